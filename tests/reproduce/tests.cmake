regroup_test(reproduce grid_test.cpp plan_test.cpp)
