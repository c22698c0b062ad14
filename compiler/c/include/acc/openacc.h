/* Runtime library (OpenACC 3.4, 3). */
#pragma once
#include "acc_device_t.h"
#include <stddef.h>

typedef enum acc_device_property_t {
  acc_property_memory = 1,
  acc_property_free_memory = 2,
  acc_property_shared_memory_support = 3,
  acc_property_name = 101,
  acc_property_vendor = 102,
  acc_property_driver = 103
} acc_device_property_t;

enum { acc_async_noval = -1, acc_async_sync = -2, acc_async_default = -3 };

/* Devices */
int acc_get_num_devices(acc_device_t);
void acc_set_device_type(acc_device_t);
acc_device_t acc_get_device_type(void);
void acc_set_device_num(int, acc_device_t);
int acc_get_device_num(acc_device_t);
size_t acc_get_property(int, acc_device_t, acc_device_property_t);
const char *acc_get_property_string(int, acc_device_t, acc_device_property_t);
void acc_init(acc_device_t), acc_init_device(int, acc_device_t);
void acc_shutdown(acc_device_t), acc_shutdown_device(int, acc_device_t);
int acc_on_device(acc_device_t);

/* Queues */
int acc_async_test(int), acc_async_test_device(int, int);
int acc_async_test_all(void), acc_async_test_all_device(int);
void acc_wait(int), acc_wait_device(int, int);
void acc_wait_async(int, int), acc_wait_device_async(int, int, int);
void acc_wait_all(void), acc_wait_all_device(int);
void acc_wait_all_async(int), acc_wait_all_device_async(int, int);
int acc_wait_any(int, int *), acc_wait_any_device(int, int *, int);
int acc_get_default_async(void);
void acc_set_default_async(int);

/* Data */
void *acc_malloc(size_t);
void acc_free(void *);
void *acc_copyin(void *, size_t), *acc_create(void *, size_t);
void acc_copyin_async(void *, size_t, int), acc_create_async(void *, size_t, int);
void acc_copyout(void *, size_t), acc_copyout_async(void *, size_t, int);
void acc_copyout_finalize(void *, size_t), acc_copyout_finalize_async(void *, size_t, int);
void acc_delete(void *, size_t), acc_delete_async(void *, size_t, int);
void acc_delete_finalize(void *, size_t), acc_delete_finalize_async(void *, size_t, int);
void acc_update_device(void *, size_t), acc_update_device_async(void *, size_t, int);
void acc_update_self(void *, size_t), acc_update_self_async(void *, size_t, int);
void acc_map_data(void *, void *, size_t), acc_unmap_data(void *);
void *acc_deviceptr(void *), *acc_hostptr(void *);
int acc_is_present(void *, size_t);
void acc_memcpy_to_device(void *, void *, size_t);
void acc_memcpy_to_device_async(void *, void *, size_t, int);
void acc_memcpy_from_device(void *, void *, size_t);
void acc_memcpy_from_device_async(void *, void *, size_t, int);
void acc_memcpy_device(void *, void *, size_t), acc_memcpy_device_async(void *, void *, size_t, int);
void acc_memcpy_d2d(void *, void *, size_t, int, int);
void acc_memcpy_d2d_async(void *, void *, size_t, int, int, int);

/* Compressed arrays (docs/compression.md) */
void *acc_compress_create(void *, size_t, char *, void *, int, double, double);
void *acc_compress_present_or_create(void *, size_t, char *, void *, int, double, double);
void *acc_pcompress_create(void *, size_t, char *, void *, int, double, double);
void *acc_compress_copyin(void *, size_t, char *, void *, int, float, float);
void *acc_compress_present_or_copyin(void *, size_t, char *, void *, int, float, float);
void *acc_pcompress_copyin(void *, size_t, char *, void *, int, float, float);
void acc_decompress_copyout(void *, size_t);
void *acc_isComp(void *), *acc_get_coef(void *);
int acc_compression_statistics(void *, double *);
void acc_compression_report(void);

void acc_attach(void **), acc_attach_async(void **, int);
void acc_detach(void **), acc_detach_async(void **, int);
void acc_detach_finalize(void **), acc_detach_finalize_async(void **, int);

/* CUDA: null and 0 on other devices */
void *acc_get_current_cuda_device(void), *acc_get_current_cuda_context(void);
void *acc_get_cuda_stream(int);
int acc_set_cuda_stream(int, void *);

/* Deprecated spellings */
void acc_async_wait(int), acc_async_wait_all(void);
void *acc_pcopyin(void *, size_t), *acc_present_or_copyin(void *, size_t);
void *acc_pcreate(void *, size_t), *acc_present_or_create(void *, size_t);

/* Research extension: compression. Sizes are uncompressed bytes; scan == 0: min and max are given. */
void *acc_compress_create(void *, size_t, char *, void *, int, double, double);
void *acc_compress_present_or_create(void *, size_t, char *, void *, int, double, double);
void *acc_compress_copyin(void *, size_t, char *, void *, int, float, float);
void *acc_pcompress_copyin(void *, size_t, char *, void *, int, float, float);
void acc_decompress_copyout(void *, size_t);
void *acc_isComp(void *), *acc_get_coef(void *);

/* Research extension: several devices. All addresses are host addresses. */
void acc_update_peer(void *, int, void *, int, size_t);
