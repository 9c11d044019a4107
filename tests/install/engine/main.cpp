#include <ATen/ATen.h>
#include <regroup/nn/engine.h>

int main() { return at::ones({2}).sum().item<float>() == 2 && !regroup::engine_info().version.empty() ? 0 : 1; }
