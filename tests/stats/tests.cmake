regroup_test(stats bootstrap_test.cpp condensed_test.cpp mixture_test.cpp noise_rate_test.cpp unit_range_test.cpp)
