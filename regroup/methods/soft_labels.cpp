#include "regroup/methods/soft_labels.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "regroup/methods/mixing.h"

namespace regroup {

SoftLabels::SoftLabels(const Context& context, double scale)
    : scale_(scale),
      rows_(at::zeros({static_cast<std::int64_t>(context.samples().size()), context.samples().classes},
                      at::TensorOptions(context.device()))),
      labelled_(context.samples().size(), -1),
      guesses_(context.samples().size(), -1) {}

at::Tensor SoftLabels::of(const TensorBatch& batch) {
  const at::Tensor before = rows_.index_select(0, batch.index);
  const at::Tensor known = before.abs().sum(1, /*keepdim=*/true) > 0;
  const at::Tensor rows = at::where(known, before, one_hot_rows(batch.labels, rows_.size(1)) * scale_);
  rows_.index_copy_(0, batch.index, rows);
  return rows;
}

void SoftLabels::look(const Context& context) {
  const at::Tensor likeliest = rows_.argmax(1).to(at::kCPU).contiguous();
  const at::Tensor known = (rows_.abs().sum(1) > 0).to(at::kCPU).contiguous();
  for (std::size_t slot = 0; slot < labelled_.size(); ++slot) {
    if (!known.data_ptr<bool>()[slot]) continue;
    const auto label = static_cast<std::int32_t>(likeliest.data_ptr<std::int64_t>()[slot]);
    labelled_[slot] = label == context.samples().labels[slot] ? 1 : 0;
    guesses_[slot] = labelled_[slot] == 1 ? -1 : label;
  }
}

double SoftLabels::changed() const { return static_cast<double>(std::count(labelled_.begin(), labelled_.end(), 0)); }

}  // namespace regroup
