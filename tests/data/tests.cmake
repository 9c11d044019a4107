regroup_test(data augment_kernels_test.cpp augment_test.cpp cifar_test.cpp clothing1m_test.cpp crop_test.cpp csv_dataset_test.cpp
  dataset_test.cpp distort_test.cpp exif_test.cpp features_test.cpp folder_test.cpp idx_test.cpp image_cache_test.cpp image_file_test.cpp image_files_test.cpp
  key_lists_test.cpp labels_file_test.cpp loader_test.cpp mnist_test.cpp normalisation_test.cpp photo_test.cpp photos_test.cpp
  resample_kernels_test.cpp resample_test.cpp resize_test.cpp sample_source_test.cpp split_test.cpp vectors_test.cpp webp_test.cpp webvision_test.cpp)
target_link_libraries(data_test PRIVATE ZLIB::ZLIB JPEG::JPEG WebP::webp)
