regroup_test(train agreement_test.cpp audit_run_test.cpp budget_test.cpp ce_start_test.cpp config_file_test.cpp data_change_test.cpp drawn_epochs_test.cpp evaluate_test.cpp features_run_test.cpp init_weights_test.cpp method_conformance_test.cpp metrics_test.cpp refinement_run_test.cpp run_data_test.cpp run_lock_test.cpp run_report_test.cpp
  run_settings_test.cpp test_sets_test.cpp time_left_test.cpp trained_predictor_test.cpp trainer_test.cpp)
target_link_libraries(train_test PRIVATE ZLIB::ZLIB JPEG::JPEG)
