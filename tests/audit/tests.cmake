regroup_test(audit audit_test.cpp none_of_these_test.cpp dot_kernels_test.cpp duplicates_test.cpp neighbours_test.cpp picture_match_test.cpp thumbnail_test.cpp)
