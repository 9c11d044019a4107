#include "regroup/data/labels_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <iterator>
#include <thread>

#include "regroup/io/npy.h"
#include "support/data_testing.h"

namespace regroup {
namespace {

using Labels = std::vector<std::int32_t>;
using Indexes = std::vector<std::uint32_t>;

const std::vector<std::string> animals{"cat", "dog", "2", "guinea, pig"};

/// So many images, which have no paths.
Dataset images(std::size_t count, const std::vector<std::string>& class_names = animals) {
  Dataset dataset;
  dataset.class_names = class_names;
  dataset.train.labels.resize(count);
  return dataset;
}

Dataset images_with_paths(const std::vector<std::string>& paths) {
  Dataset dataset = images(paths.size());
  dataset.train.paths = paths;
  return dataset;
}

const Dataset photos = images_with_paths({"train/cat/1.png", "train/cat/2.png", "train/dog/a, b.png"});

LabelsFile parse(const std::string& text, const Dataset& dataset = images(3)) {
  return parse_labels(text, "f.csv", dataset);
}

std::string error_of(const std::string& text, const Dataset& dataset = images(3)) {
  return user_error([&] { parse(text, dataset); });
}

/// What `read` tells.
std::vector<std::string> told(const std::function<void(const Tell&)>& read) {
  std::vector<std::string> sentences;
  read([&](const std::string& sentence) { sentences.push_back(sentence); });
  return sentences;
}

TEST(LabelsFile, ATableIsInAnyOrder) {
  const auto file = parse("label,clean,index\n1,0,2\ncat,,0\n\"guinea, pig\",dog,1\n");
  EXPECT_EQ(file.labels, (Labels{0, 3, 1}));
  EXPECT_EQ(file.clean, (Labels{-1, 1, 0}));
  EXPECT_TRUE(parse("index,label\n0,0\n1,1\n2,2\n").clean.empty());
  EXPECT_TRUE(parse("index,label,clean\n0,0,\n1,1,\n2,2,\n").clean.empty());
}

TEST(LabelsFile, AListHasALabelALine) {
  EXPECT_EQ(parse("dog\n0\n\"guinea, pig\"\n\n").labels, (Labels{1, 0, 3}));
  EXPECT_EQ(parse("3\r\n2\r\n1").labels, (Labels{3, 2, 1}));
  EXPECT_TRUE(parse("3\n2\n1\n").clean.empty());
}

TEST(LabelsFile, ANumberIsANumberEvenIfAClassIsCalledSo) {
  const std::vector<std::string> names{"1", "0", "7"};
  EXPECT_EQ(parse("0\n1\n7\n", images(3, names)).labels, (Labels{0, 1, 2}));
}

TEST(LabelsFile, EachImageHasOneLabel) {
  EXPECT_EQ(error_of("0\n1\n"), "f.csv: 2 labels for 3 images; give one line per image");
  EXPECT_EQ(error_of("0\n1\n0\n1\n"), "f.csv: 4 labels for 3 images; give one line per image");
  EXPECT_EQ(error_of(""), "f.csv: 0 labels for 3 images; give one line per image");
  EXPECT_EQ(error_of("index,label\n0,1\n2,1\n"),
            "f.csv: 2 labels for 3 images (none for image 1); give one line per image");
  EXPECT_EQ(error_of("index,label\n0,1\n2,1\n0,1\n"), "f.csv: line 4: image 0 comes twice; give one line per image");
  EXPECT_EQ(error_of("index,label\n3,1\n"), "f.csv: line 2: index 3 is outside 0 .. 2; is the file for this dataset?");
  EXPECT_EQ(error_of("index,label\n-1,1\n"),
            "f.csv: line 2: index -1 is outside 0 .. 2; is the file for this dataset?");
  EXPECT_EQ(error_of("index,label\n99999999999999999999,1\n"),
            "f.csv: line 2: index '99999999999999999999' is not a whole number");
}

TEST(LabelsFile, LabelsMustBeClasses) {
  const std::string rest = " is neither a number from 0 to 3 nor the name of a class";
  EXPECT_EQ(error_of("0\n4\n0\n"), "f.csv: line 2: label '4'" + rest);
  EXPECT_EQ(error_of("0\n-1\n0\n"), "f.csv: line 2: label '-1'" + rest);
  EXPECT_EQ(error_of("0\n\n0\n"), "f.csv: line 2: label ''" + rest);
  EXPECT_EQ(error_of("label\n0\n0\n0\n"), "f.csv: line 1: label 'label'" + rest);
  EXPECT_EQ(error_of("index,label,clean\n0,0,horse\n"), "f.csv: line 2: label 'horse'" + rest);
  EXPECT_EQ(error_of("0,1\n"),
            "f.csv: line 1: 2 fields; give one label per line, or index,label and these words as the first line");
  EXPECT_EQ(error_of("index,lable\n0,0\n"),
            "f.csv: line 1: no column 'label' in 'index,lable'; the first line has to name the columns: label, clean, "
            "index, path");
  EXPECT_EQ(error_of("index,label\n0\n"),
            "f.csv: line 2: 1 fields where the first line has 2; give one for each column");
}

TEST(LabelsFile, ReadsFilesAndArrays) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_labels(folder.write("l.txt", std::string("\xEF\xBB\xBF"
                                                          "dog\n0\n0\n")),
                        images(3))
                .labels,
            (Labels{1, 0, 0}));
  const std::string packed = "index,label\n0,1\n";
  EXPECT_EQ(read_labels(folder.write("l.csv.gz", gzip(Bytes(packed.begin(), packed.end()))), images(1)).labels,
            Labels{1});
  const auto file = folder.path() / "l.npy";
  write_npy(file, std::vector<std::int64_t>{3, 0, 1}, std::vector<std::size_t>{3});
  EXPECT_EQ(read_labels(file, images(3)).labels, (Labels{3, 0, 1}));
  EXPECT_EQ(user_error([&] { read_labels(file, images(4)); }),
            file.string() + ": 3 labels for 4 images; give one line per image");
  write_npy(file, std::vector<std::int32_t>{3, 0, 4}, std::vector<std::size_t>{3});
  EXPECT_EQ(user_error([&] { read_labels(file, images(3)); }),
            file.string() + ": label 4 of image 2 is outside 0 .. 3");
  write_npy(file, std::vector<std::int32_t>{3, 0, 1}, std::vector<std::size_t>{1, 3});
  EXPECT_EQ(user_error([&] { read_labels(file, images(3)); }),
            file.string() + ": an array of 2 dimensions; give one of 1 dimension");
}

TEST(LabelsFile, IntegersOfAnyWidthAreLabelsAndFractionsAreNot) {
  const TemporaryFolder folder;
  const auto npy = [&](const std::string& type, const Bytes& values) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,), }";
    const Bytes start = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<std::uint8_t>(header.size()), 0};
    return folder.write("l.npy", start + Bytes(header.begin(), header.end()) + values);
  };
  EXPECT_EQ(read_labels(npy("|u1", {3, 1}), images(2)).labels, (Labels{3, 1}));
  EXPECT_EQ(read_labels(npy("|i1", {3, 1}), images(2)).labels, (Labels{3, 1}));
  EXPECT_EQ(read_labels(npy("<u2", {3, 0, 1, 0}), images(2)).labels, (Labels{3, 1}));
  EXPECT_EQ(read_labels(npy("<i4", {3, 0, 0, 0, 1, 0, 0, 0}), images(2)).labels, (Labels{3, 1}));
  EXPECT_EQ(read_labels(npy("<u8", Bytes{3} + Bytes(7) + Bytes{1} + Bytes(7)), images(2)).labels, (Labels{3, 1}));
  EXPECT_EQ(user_error([&] { read_labels(npy("<f4", Bytes(8)), images(2)); }),
            (folder.path() / "l.npy").string() +
                ": the values have the type '<f4', not integers; save array.astype('int64') instead");
}

TEST(LabelsFile, WhatOnlyPythonReadsIsRefusedWithTheLineThatConvertsIt) {
  const TemporaryFolder folder;
  const auto said = [&](const std::string& name, const std::string& content) {
    const auto file = folder.write(name, content);
    const auto message = user_error([&] { read_labels(file, images(3)); });
    EXPECT_EQ(user_error([&] { read_trusted(file, images(3)); }), message);
    return message.substr(file.string().size());
  };
  const std::string start = ": only Python reads this kind of file; convert it with: python3 -c \"import numpy";
  const std::string torch = start + ", torch; numpy.save('labels.npy', numpy.asarray(torch.load('l.pt'), 'int64'))\"";
  const std::string archive("PK\x03\x04...", 7), pickle("\x80\x04...", 5);
  EXPECT_EQ(said("l.pt", archive), torch);
  EXPECT_EQ(said("l.pt", "0\n1\n2\n"), torch);  // an old one has no sign
  EXPECT_EQ(said("L.PTH", pickle),
            start + ", torch; numpy.save('labels.npy', numpy.asarray(torch.load('L.PTH'), 'int64'))\"");
  EXPECT_EQ(said("l.pkl", pickle),
            start + ", pickle; numpy.save('labels.npy', numpy.asarray(pickle.load(open('l.pkl', 'rb')), 'int64'))\"");
  EXPECT_EQ(said("l.npz", archive),
            start + "; numpy.save('labels.npy', numpy.asarray(numpy.load('l.npz')['NAME'], 'int64'))\"");
  EXPECT_EQ(said("labels", pickle),
            start + ", torch; numpy.save('labels.npy', numpy.asarray(torch.load('labels'), 'int64'))\"");
}

TEST(LabelsFile, APathStandsForAnIndex) {
  const std::string text = "label,path\ndog,\"train/dog/a, b.png\"\n0,./train//cat/1.png\n2,train/cat/2.png\n";
  EXPECT_EQ(parse(text, photos).labels, (Labels{0, 2, 1}));
  EXPECT_EQ(error_of("path,label\ncat/1.png,0\n", photos),
            "f.csv: line 2: no training image has the path 'cat/1.png'; the first one has 'train/cat/1.png'");
  EXPECT_EQ(error_of("path,label\ntrain/cat/1.png,0\ntrain/cat/1.png,0\n", photos),
            "f.csv: line 3: image 0 comes twice; give one line per image");
  EXPECT_EQ(error_of("path,label\na.png,0\n"),
            "f.csv: line 2: there is a path, and the images of this dataset have none; give a column 'index'");
  EXPECT_EQ(error_of("path,label\n./a,0\n", images_with_paths({"a", "b", "a"})),
            "f.csv: line 2: the path './a' is that of several images; give a column 'index'");
}

TEST(LabelsFile, WithIndexAndPathTheIndexCountsAndThePathMustAgree) {
  const std::string head = "index,label,clean,path\n0,1,0,train/cat/1.png\n1,0,,./train/cat/2.png\n";
  const auto file = parse(head + "2,dog,2,\"train/dog/a, b.png\"\n", photos);
  EXPECT_EQ(file.labels, (Labels{1, 0, 1}));
  EXPECT_EQ(file.clean, (Labels{0, -1, 2}));
  EXPECT_EQ(error_of(head + "2,dog,2,train/dog/c.png\n", photos),
            "f.csv: line 4: image 2 is 'train/dog/c.png' in the file and 'train/dog/a, b.png' here; the file is for "
            "another dataset, or the folder has changed");
  EXPECT_EQ(error_of(head, images(3)),
            "f.csv: line 2: image 0 is 'train/cat/1.png' in the file and without a path here; the file is for another "
            "dataset, or the folder has changed");
  // Of two files with the same name in a manifest, the index tells which one is meant.
  EXPECT_EQ(parse("index,path,label\n1,a,1\n0,a,0\n", images_with_paths({"a", "a"})).labels, (Labels{0, 1}));
}

TEST(LabelsFile, FurtherColumnsAreIgnoredAndTold) {
  const std::string text = " Index ,LABEL,score,\"note\"\n0,1,x,\n2,1,x,\n1,0,x,\n";
  Labels labels;
  EXPECT_EQ(told([&](const Tell& tell) { labels = parse_labels(text, "f.csv", images(3), tell).labels; }),
            std::vector<std::string>{"f.csv: columns that are not used: score, note"});
  EXPECT_EQ(labels, (Labels{1, 0, 1}));
  EXPECT_TRUE(told([](const Tell& tell) { parse_labels("index,label\n0,1\n", "f", images(1), tell); }).empty());
}

/// A pipe that says `content` once.
class Pipe {
 public:
  Pipe(const TemporaryFolder& folder, Bytes content) : path_(folder.path() / "pipe") {
    std::filesystem::remove(path_);
    if (mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("mkfifo failed");
    writer_ = std::thread([path = path_, bytes = std::move(content)] {
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    });
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { writer_.join(); }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::thread writer_;
};

TEST(LabelsFile, APipeIsReadAsWell) {
  const TemporaryFolder folder;
  const auto bytes = [](const std::string& text) { return Bytes(text.begin(), text.end()); };
  EXPECT_EQ(read_labels(Pipe(folder, bytes("2\ncat\ndog\n")).path(), images(3)).labels, (Labels{2, 0, 1}));
  EXPECT_EQ(read_labels(Pipe(folder, gzip(bytes("2\ncat\ndog\n"))).path(), images(3)).labels, (Labels{2, 0, 1}));
  EXPECT_EQ(read_trusted(Pipe(folder, bytes("2\n0\n")).path(), images(3)), (Indexes{0, 2}));
  const auto file = folder.path() / "l.npy";
  write_npy(file, std::vector<std::int32_t>{1, 0}, std::vector<std::size_t>{2});
  std::ifstream in(file, std::ios::binary);
  const std::string array{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(read_labels(Pipe(folder, bytes(array)).path(), images(2)).labels, (Labels{1, 0}));
}

TEST(LabelsFile, IsWrittenWithTheColumnsThatThereAre) {
  EXPECT_EQ(labels_csv(Labels{3, 0, 12}, Labels{3, 1, 2}, {}), "index,label,clean\n0,3,3\n1,0,1\n2,12,2\n");
  EXPECT_EQ(labels_csv(Labels{1, 0}, {}, {}), "index,label\n0,1\n1,0\n");
  EXPECT_EQ(labels_csv(Labels{0, 1, 1}, Labels{-1, 1, 0}, photos.train.paths),
            "index,label,clean,path\n0,0,,train/cat/1.png\n1,1,1,train/cat/2.png\n2,1,0,\"train/dog/a, b.png\"\n");
}

TEST(LabelsFile, WhatIsWrittenIsReadBack) {
  const Labels labels{0, 1, 3}, clean{-1, 1, 0};
  const auto file = parse(labels_csv(labels, clean, photos.train.paths), photos);
  EXPECT_EQ(file.labels, labels);
  EXPECT_EQ(file.clean, clean);
}

TEST(Trusted, AreIndexesALineOrAColumn) {
  EXPECT_EQ(parse_trusted("7\n0\n3\n", "f", images(8)), (Indexes{0, 3, 7}));
  EXPECT_EQ(parse_trusted("index\n7\n0\n", "f", images(8)), (Indexes{0, 7}));
  EXPECT_EQ(parse_trusted("score,index\n0.5,7\nx,0\n", "f", images(8)), (Indexes{0, 7}));
  const TemporaryFolder folder;
  const auto file = folder.path() / "t.npy";
  write_npy(file, std::vector<std::int64_t>{2, 1}, std::vector<std::size_t>{2});
  EXPECT_EQ(read_trusted(file, images(3)), (Indexes{1, 2}));
  EXPECT_EQ(user_error([&] { read_trusted(file, images(2)); }),
            file.string() + ": index 2 is outside 0 .. 1; is the file for this dataset?");
  EXPECT_EQ(read_trusted(folder.write("t.txt", std::string("1\n")), images(2)), Indexes{1});
}

TEST(Trusted, MayBePaths) {
  const auto parse = [](const std::string& text) { return parse_trusted(text, "f", photos); };
  EXPECT_EQ(parse("train/cat/2.png\n\"train/dog/a, b.png\"\n0\n"), (Indexes{0, 1, 2}));
  EXPECT_EQ(parse("Filename,by\n./train/cat/2.png,me\n"), Indexes{1});
  EXPECT_EQ(parse("path,index\ntrain/cat/1.png,0\n"), Indexes{0});
  EXPECT_EQ(user_error([&] { parse("path,index\ntrain/cat/1.png,1\n"); }),
            "f: line 2: image 1 is 'train/cat/1.png' in the file and 'train/cat/2.png' here; the file is for another "
            "dataset, or the folder has changed");
  EXPECT_EQ(user_error([&] { parse("train/cat/3.png\n"); }),
            "f: line 1: no training image has the path 'train/cat/3.png'; the first one has 'train/cat/1.png'");
  EXPECT_EQ(told([](const Tell& tell) { parse_trusted("score,index\n1,2\n", "f", photos, tell); }),
            std::vector<std::string>{"f: columns that are not used: score"});
}

TEST(Trusted, AListOfNoneIsAListIfItNamesItsColumns) {
  EXPECT_TRUE(parse_trusted("index\n", "f", images(8)).empty());
  EXPECT_EQ(told([](const Tell& tell) { parse_trusted("index\n", "f", photos, tell); }),
            std::vector<std::string>{"f: no image in it; no label is trusted"});
}

TEST(Trusted, SaysWhatIsWrong) {
  const auto error = [](const std::string& text) { return user_error([&] { parse_trusted(text, "f", images(8)); }); };
  EXPECT_EQ(error(""), "f: no image in it; give the index or path of one per line");
  EXPECT_EQ(error("1\n2\n1\n"), "f: image 1 comes twice; give it once");
  EXPECT_EQ(error("1\n8\n"), "f: line 2: index 8 is outside 0 .. 7; is the file for this dataset?");
  EXPECT_EQ(error("1\nx\n"), "f: line 2: index 'x' is not a whole number");
  EXPECT_EQ(error("1,2\n"),
            "f: line 1: no column 'index' or 'path'; give a first line that names the columns, or one image per line");
}

}  // namespace
}  // namespace regroup
