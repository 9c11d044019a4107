regroup_test(noise instance_test.cpp noise_test.cpp spec_test.cpp
  transition_csv_test.cpp transition_test.cpp)
target_link_libraries(noise_test PRIVATE regroup::data)
