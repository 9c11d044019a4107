regroup_test(nn batch_norm_test.cpp bf16_convolution_test.cpp convolution_test.cpp network_test.cpp precision_test.cpp sgd_test.cpp weights_test.cpp winograd_test.cpp)
