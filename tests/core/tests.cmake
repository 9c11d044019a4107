regroup_test(core settings_test.cpp file_test.cpp parallel_test.cpp printable_test.cpp random_test.cpp softmax_test.cpp)
target_include_directories(core_test SYSTEM PRIVATE ${RANDOM123_INCLUDE_DIR})
