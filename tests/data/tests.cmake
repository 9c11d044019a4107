regroup_test(data byte_source_test.cpp dataset_test.cpp idx_test.cpp mnist_test.cpp)
target_link_libraries(data_test PRIVATE ZLIB::ZLIB)
