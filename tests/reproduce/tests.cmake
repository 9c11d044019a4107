regroup_test(reproduce estimate_test.cpp grid_test.cpp named_files_test.cpp plan_test.cpp presets_test.cpp results_test.cpp runner_test.cpp)
target_link_libraries(reproduce_test PRIVATE ZLIB::ZLIB JPEG::JPEG)
