regroup_test(io byte_source_test.cpp csv_test.cpp mapped_rows_test.cpp npy_test.cpp protobuf_test.cpp safetensors_test.cpp text_file_test.cpp)
target_link_libraries(io_test PRIVATE ZLIB::ZLIB)
