regroup_test(methods guessing_test.cpp mixing_test.cpp)
