regroup_test(audit
  audit_test.cpp decision_journal_test.cpp decisions_test.cpp none_of_these_test.cpp dot_kernels_test.cpp duplicates_test.cpp
  jpeg_encode_test.cpp neighbours_test.cpp picture_match_test.cpp pictures_test.cpp recalibrate_test.cpp review_data_test.cpp
  review_server_test.cpp review_site_test.cpp saved_audit_test.cpp thumbnail_test.cpp worker_threads_test.cpp)
target_link_libraries(audit_test PRIVATE Httplib::httplib)
