regroup_test(report charts_test.cpp event_file_test.cpp result_page_test.cpp result_table_test.cpp text_table_test.cpp)
