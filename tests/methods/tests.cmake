regroup_test(methods co_teaching_test.cpp dividemix_test.cpp pes_test.cpp scoring_test.cpp learner_test.cpp mixmatch_test.cpp mixing_test.cpp)
