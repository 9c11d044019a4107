regroup_test(nn adam_test.cpp batch_norm_test.cpp bf16_convolution_test.cpp convolution_test.cpp network_test.cpp precision_test.cpp sgd_test.cpp weights_test.cpp winograd_test.cpp)
