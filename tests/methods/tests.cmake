regroup_test(methods learner_test.cpp mixmatch_test.cpp mixing_test.cpp)
