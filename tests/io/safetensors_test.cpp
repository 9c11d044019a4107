#include "regroup/io/safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <limits>
#include <sstream>

#include "support/data_testing.h"

namespace regroup {
namespace {

std::string safetensors_bytes(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> (8 * i));
  return bytes + header + data;
}

SafetensorsFile parse(const std::string& bytes) {
  std::istringstream in(bytes);
  return {in, "f"};
}

std::string error_of(const std::string& bytes) {
  return user_error([&] { parse(bytes); });
}

std::string error_of(const std::string& header, const std::string& data) {
  return error_of(safetensors_bytes(header, data));
}

std::string damaged(const std::string& what) {
  return "f: not a whole safetensors file (" + what + "); write or fetch it again";
}

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <typename T>
std::vector<T> values_of(const TensorBytes* tensor) {
  if (tensor == nullptr) throw std::runtime_error("no such tensor");
  std::vector<T> values(tensor->bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
  return values;
}

// safetensors.numpy.save({"w": array([[1.5, -2]], dtype=float32), "n": array(7, dtype=int64),
//                         "m": array([True, False, True])}, {"format": "pt"}) of safetensors 0.8.0
const std::string golden = safetensors_bytes(
    R"({"__metadata__":{"format":"pt"},"n":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
    R"("w":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},"m":{"dtype":"BOOL","shape":[3],"data_offsets":[16,19]}}    )",
    std::string("\x07\0\0\0\0\0\0\0\0\0\xc0\x3f\0\0\0\xc0\x01\0\x01", 19));

TEST(Safetensors, ReadsWhatPythonWrites) {
  const TemporaryFolder folder;
  const SafetensorsFile file(folder.write("x", Bytes(golden.begin(), golden.end())));
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensors()[0].name, "n");
  EXPECT_EQ(file.tensors()[0].dtype, "I64");
  EXPECT_TRUE(file.tensors()[0].shape.empty());
  EXPECT_EQ(values_of<std::int64_t>(file.find("n")), std::vector<std::int64_t>{7});
  EXPECT_EQ(file.find("w")->shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(values_of<float>(file.find("w")), (std::vector<float>{1.5F, -2}));
  EXPECT_EQ(values_of<std::uint8_t>(file.find("m")), (Bytes{1, 0, 1}));
  EXPECT_EQ(file.find("x"), nullptr);
}

TEST(Safetensors, WritesWhatPythonWrites) {
  const TemporaryFolder folder;
  const std::vector<float> w = {1.5F, -2};
  const std::vector<std::int64_t> n = {7};
  const Bytes m = {1, 0, 1};
  const std::vector<TensorBytes> tensors = {
      {"m", "BOOL", {3}, bytes_of(m)}, {"w", "F32", {1, 2}, bytes_of(w)}, {"n", "I64", {}, bytes_of(n)}};
  write_safetensors(folder.path() / "x", tensors, {{"format", "pt"}});
  EXPECT_EQ(content(folder.path() / "x"), golden);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Safetensors, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  const std::vector<double> d = {1e300};
  const std::vector<std::uint16_t> h = {1, 2, 3};
  const std::string odd = "a \"b\"\\\n\x1f \u00fc \u732b";
  const std::vector<TensorBytes> tensors = {
      {odd, "F16", {3}, bytes_of(h)}, {"", "F64", {1}, bytes_of(d)}, {"none", "F32", {4, 0}, {}}};
  const std::map<std::string, std::string> metadata = {{odd, odd}, {"", ""}, {"config", std::string(10'000, 'x')}};
  write_safetensors(folder.path() / "x", tensors, metadata);
  SafetensorsFile first(folder.path() / "x");
  const SafetensorsFile file = std::move(first);
  EXPECT_EQ(file.metadata(), metadata);
  EXPECT_EQ(values_of<std::uint16_t>(file.find(odd)), h);
  EXPECT_EQ(values_of<double>(file.find("")), d);
  EXPECT_EQ(file.find("none")->shape, (std::vector<std::int64_t>{4, 0}));

  write_safetensors(folder.path() / "x", {}, {});
  EXPECT_EQ(content(folder.path() / "x"), safetensors_bytes("{}      ", ""));
  EXPECT_TRUE(SafetensorsFile(folder.path() / "x").tensors().empty());
}

TEST(Safetensors, TensorsAreAlignedEvenIfTheFileIsNot) {
  const auto file = parse(safetensors_bytes(
      R"({"b":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"w":{"dtype":"F32","shape":[1],"data_offsets":[3,7]}, )"
      R"("d":{"dtype":"F64","shape":[1],"data_offsets":[7,15]}})",
      std::string("abc\0\0\xc0\x3f\0\0\0\0\0\0\xf8\x3f", 15)));
  EXPECT_EQ(values_of<float>(file.find("w")), std::vector<float>{1.5F});
  EXPECT_EQ(values_of<double>(file.find("d")), std::vector<double>{1.5});
  for (const auto& tensor : file.tensors()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % safetensors_size(tensor.dtype), 0U);
  }
}

TEST(Safetensors, AFileThatIsCutAnywhereIsAnError) {
  for (std::size_t size = 0; size < golden.size(); ++size) {
    ASSERT_NE(error_of(golden.substr(0, size)), "no UserError was thrown") << size;
  }
  EXPECT_EQ(error_of(golden + "x"), damaged("the header promises 19 bytes of tensors, there are 20"));
}

TEST(Safetensors, TensorsThatDoNotFillTheFileAreErrors) {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[)" + first +
           R"(]},"b":{"dtype":"U8","shape":[2],"data_offsets":[)" + second + "]}}";
  };
  EXPECT_EQ(parse(safetensors_bytes(two("2,4", "0,2"), "xyzw")).tensors()[0].name, "b");
  const std::string hole = damaged("tensor 'b' does not follow the one before it");
  EXPECT_EQ(error_of(two("0,2", "3,5"), "xyzwv"), hole);
  EXPECT_EQ(error_of(two("0,2", "1,3"), "xyz"), hole);
  EXPECT_EQ(error_of(two("0,2", "0,2"), "xy"), hole);
  EXPECT_EQ(error_of(two("0,2", "2,5"), "xyzwv"), damaged("tensor 'b' is not as long as its shape says"));
  EXPECT_EQ(error_of(two("0,2", "2,1"), "xyzw"), damaged("tensor 'b' is not as long as its shape says"));
  EXPECT_EQ(error_of(two("0,2", "2,4"), "xyz"), damaged("the header promises 4 bytes of tensors, there are 3"));
  EXPECT_EQ(error_of(two("0,2", "2"), "xyzw"), damaged("tensor 'b' lacks its dtype, shape or two data_offsets"));
  EXPECT_EQ(error_of(two("0,2", "2,4,6"), "xyzw"), damaged("tensor 'b' lacks its dtype, shape or two data_offsets"));
}

TEST(Safetensors, ShapesWhoseProductWrapsAreErrors) {
  for (const std::string shape :
       {"4294967296,4294967296", "9223372036854775807,2", "4611686018427387904,4,0", "2305843009213693952"}) {
    EXPECT_EQ(error_of(R"({"a":{"dtype":"F64","shape":[)" + shape + R"(],"data_offsets":[0,0]}})", ""),
              damaged("tensor 'a' is not as long as its shape says"));
  }
}

TEST(Safetensors, WhatComesTwiceIsAnError) {
  const std::string a = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(parse(safetensors_bytes("{" + a + "}", "")).tensors().size(), 1U);
  EXPECT_EQ(error_of("{" + a + "," + a + "}", ""), damaged("tensor 'a' comes twice"));
  EXPECT_EQ(error_of(R"({"__metadata__":{},"__metadata__":{}})", ""), damaged("the metadata comes twice"));
  EXPECT_EQ(error_of(R"({"__metadata__":{"k":"1","k":"2"}})", ""), damaged("a key of the metadata comes twice"));
  EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", ""),
            damaged("tensor 'a' has the entry 'dtype' twice, or it is unknown"));
  EXPECT_EQ(error_of(R"({"a":{"other":1}})", ""), damaged("tensor 'a' has the entry 'other' twice, or it is unknown"));
}

TEST(Safetensors, HeadersOfTheWrongKindAreErrors) {
  const std::string wrong = damaged("the header has a value of the wrong kind");
  for (const std::string header :
       {R"({"a":1})", R"({"a":null})", R"({"a":[]})", R"({"a":"x"})", R"({"a":{"dtype":1}})", R"({"a":{"dtype":{}}})",
        R"({"a":{"shape":1}})", R"({"a":{"shape":{}}})", R"({"a":{"shape":[-1]}})", R"({"a":{"shape":[1.0]}})",
        R"({"a":{"shape":["1"]}})", R"({"a":{"shape":[[1]]}})", R"({"a":{"shape":[true]}})",
        R"({"a":{"data_offsets":[18446744073709551616,0]}})", R"({"__metadata__":[]})", R"({"__metadata__":{"k":1}})",
        R"({"__metadata__":{"k":{}}})"}) {
    EXPECT_EQ(error_of(header, ""), wrong) << header;
  }
  EXPECT_EQ(error_of(R"({"a":{"shape":[9223372036854775808]}})", ""), damaged("a number is too large"));
  EXPECT_EQ(error_of(R"({"a":{"dtype":"F4","shape":[0],"data_offsets":[0,0]}})", "")
                .rfind("f: tensor 'a' has the type 'F4'; known: F64,", 0),
            0U);
}

TEST(Safetensors, WhatIsNotJsonIsAnError) {
  for (const std::string header :
       {"{", "{\"a\"", "{}x", "{'a':1}", "{\"\xff\":1}", "{\"a\":1e999}", "{,}", "{} /* */"}) {
    EXPECT_NE(error_of(header, "").find("the header is not JSON from byte"), std::string::npos) << header;
  }
  for (const std::string header : {"", " {}", "[]", "\xef\xbb\xbf{}"}) {
    EXPECT_EQ(error_of(header, ""), damaged("the header does not start with '{'"));
  }
  // 0x2020... bytes of header, as a text file would have it.
  EXPECT_EQ(error_of("        "), damaged("its header would have 2314885530818453536 bytes"));
  EXPECT_EQ(error_of(std::string("\xff\xe0\xf5\x05\0\0\0\0{}", 10)), damaged("it ends within its header"));
}

TEST(Safetensors, DeepNestingAndEndlessShapesAreErrorsAndNotCrashes) {
  const std::string deep(1'000'000, '[');
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(error_of(R"({"a":)" + deep, ""), damaged("the header has a value of the wrong kind"));
  EXPECT_EQ(error_of(R"({"a":{"shape":)" + deep, ""), damaged("the header has a value of the wrong kind"));
  EXPECT_EQ(error_of(objects, ""), damaged("tensor 'a' has the entry 'a' twice, or it is unknown"));
  std::string sizes = "1";
  for (int i = 0; i < 64; ++i) sizes += ",1";
  EXPECT_EQ(error_of(R"({"a":{"shape":[)" + sizes, ""), damaged("a shape has more than 64 dimensions"));
}

TEST(Safetensors, ANameCannotPlayTricksOnTheTerminal) {
  EXPECT_EQ(error_of(R"({"\u001b[31m)" + std::string(100, 'x') + R"(":{}})", ""),
            damaged("tensor '?[31m" + std::string(55, 'x') + "...' lacks its dtype, shape or two data_offsets"));
}

TEST(Safetensors, WhatCannotBeWrittenIsRefusedBeforeTheFileIsTouched) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x";
  const Bytes two(2);
  const auto refuse = [&](const std::vector<TensorBytes>& tensors) {
    EXPECT_THROW(write_safetensors(file, tensors, {}), std::invalid_argument);
  };
  refuse({{"a", "U8", {3}, bytes_of(two)}});
  refuse({{"a", "U8", {-1, -2}, bytes_of(two)}});
  refuse({{"a", "float", {2}, bytes_of(two)}});
  refuse({{"a", "U8", {2}, bytes_of(two)}, {"b", "U8", {2}, bytes_of(two)}, {"a", "U8", {2}, bytes_of(two)}});
  refuse({{"__metadata__", "U8", {2}, bytes_of(two)}});
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Safetensors, AFullDiskLeavesTheOldFileWhole) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x";
  const Bytes small(10, 1);
  write_safetensors(file, std::vector<TensorBytes>{{"a", "U8", {10}, bytes_of(small)}}, {});
  const std::string old = content(file);

  // A limit on the size of files fails as a full disk does: in the middle of a write.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 100'000;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  const Bytes large(200'000, 2);
  const std::string error = user_error([&] {
    write_safetensors(file, std::vector<TensorBytes>{{"a", "U8", {200'000}, bytes_of(large)}}, {});
  });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(error, file.string() + ": could not be written to the end; is the disk full?");
  EXPECT_EQ(content(file), old);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Safetensors, AMissingFileOrAFolderIsNamed) {
  const TemporaryFolder folder;
  for (const auto& file : {folder.path() / "missing", folder.path()}) {
    EXPECT_EQ(user_error([&] { SafetensorsFile{file}; }),
              file.string() + ": cannot be opened; does it exist, and may it be read?");
  }
}

}  // namespace
}  // namespace regroup
