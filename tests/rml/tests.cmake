regroup_test(rml
  class_index_test.cpp draw_size_test.cpp draw_test.cpp kernels_test.cpp loss_book_test.cpp memory_test.cpp propositions_test.cpp
  regroup_median_test.cpp selection_test.cpp)
