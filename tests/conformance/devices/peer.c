/* update peer (research extension): one device's copy of a section onto another's. */
#include "../check.h"
#include <openacc.h>

int main(void) {
  int a[20], *b = malloc(20 * sizeof *b), last = acc_get_num_devices(acc_device_default) - 1, x = 1, y = 2;
  for (int i = 0; i < 20; i++) {
    a[i] = i;
    b[i] = -i;
  }
  if (!separate_memory())
    return report();
#pragma acc data copyin(a)
  {
    acc_set_device_num(last, acc_device_default);
#pragma acc data copy(b[0:20])
    {
#pragma acc update peer to(b[2:5]) to_device(last) from(a[10:5]) from_device(0)
#pragma acc update peer to(b[10:3]) to_device(last) from(a[0:3]) from_device(0) async(1) wait(1)
#pragma acc update peer to(b[0:20]) to_device(last) from(a) from_device(0) if (x > y)
#pragma acc wait
    }
    acc_set_device_num(0, acc_device_default);
  }
  CHECK(b[0] == 0 && b[1] == -1 && b[2] == 10 && b[6] == 14 && b[7] == -7 && b[12] == 2 && b[13] == -13);
#pragma acc data copyin(x) copy(y)
  {
#pragma acc update peer to(y) to_device(0) from(x) from_device(0)
  }
  CHECK(y == 1);
  int grid[6][8], wide[4][3][10];
  for (int i = 0; i < 48; i++)
    (&grid[0][0])[i] = i;
  memset(wide, 0, sizeof wide);
#pragma acc enter data copyin(grid) deviceid(0)
#pragma acc enter data copyin(wide) deviceid(last)
#pragma acc update peer to(wide[1:2][0:2][3:3]) to_device(last) from(grid[1:2][1:6]) from_device(0) async(2)
#pragma acc wait(2) deviceid(last)
#pragma acc exit data copyout(wide) deviceid(last)
#pragma acc exit data delete(grid) deviceid(0)
  int sum = 0;
  for (int i = 0; i < 120; i++)
    sum += (&wide[0][0][0])[i] != 0;
  CHECK(sum == 12 && wide[1][0][3] == 9 && wide[1][1][3] == 12 && wide[2][0][5] == 19 && wide[2][1][5] == 22);
  return report();
}
