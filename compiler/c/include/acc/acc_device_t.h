/* acc_device_t (OpenACC 3.4, 3.1). */
#pragma once
typedef enum acc_device_t {
  acc_device_none = 0,
  acc_device_default = 1,
  acc_device_host = 2,
  acc_device_not_host = 4,
  acc_device_nvidia = 5,
  acc_device_current = 6,
  acc_device_radeon = 8,
  acc_device_xeonphi = 9,
  acc_device_opencl = 10,
  acc_device_pgi_opencl = 11,
  acc_device_nvidia_opencl = 12
} acc_device_t;
