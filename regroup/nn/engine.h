#pragma once

#include <string>

namespace regroup {

/// What this program computes with.
struct EngineInfo {
  std::string name;           ///< "libtorch (Debian)" or "PyTorch (Python)"
  std::string version;        ///< of its headers; Debian's 1.13.1 calls itself 1.13.0
  std::string device;         ///< "cpu", or "cuda" with the number of devices
  std::string cpu_precision;  ///< the fastest precision that the processor does natively: "bf16" or "fp32"
  int threads = 1;            ///< that the engine and our own loops use
};

EngineInfo engine_info();

/// Whether the processor computes in bf16 natively.
bool cpu_has_bf16();

/// Lets this process keep the memory that it frees. An engine without a cache of its own asks the system for the memory
/// of every activation, and the system clears every page of it. Call it first thing in main.
void keep_memory();

/// Makes the engine use so many threads; Debian's libtorch starts with one.
void set_engine_threads(int threads);

}  // namespace regroup
