/*
 * Thread-local objects, for gcc's emulated thread-local variables. A thread's object is created, with the
 * variable's initial value, when the thread first uses it, and freed when the thread ends.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct control {
  size_t size, align;
  size_t number; /* the variable's number, from 1; 0 before its first use */
  const void *initial;
};

struct objects {
  size_t count;
  void **of; /* by number; null if the thread has no object yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static size_t variables;

static void release(void *memory) {
  struct objects *own = memory;
  for (size_t i = 0; i < own->count; i++) free(own->of[i]);
  free(own->of);
  free(own);
}

static void begin(void) {
  if (pthread_key_create(&key, release)) abort();
}

static size_t number_of(struct control *control) {
  pthread_mutex_lock(&lock);
  if (control->number == 0) control->number = ++variables;
  size_t number = control->number;
  pthread_mutex_unlock(&lock);
  return number;
}

static void *new_object(const struct control *control) {
  size_t align = control->align < sizeof(void *) ? sizeof(void *) : control->align;
  void *object;
  if (posix_memalign(&object, align, control->size)) abort();
  return memcpy(object, control->initial, control->size);
}

void *__emutls_get_address(void *which) {
  struct control *control = which;
  pthread_once(&once, begin);
  size_t number = number_of(control);
  struct objects *own = pthread_getspecific(key);
  if (own == NULL) {
    own = calloc(1, sizeof *own);
    if (own == NULL || pthread_setspecific(key, own)) abort();
  }
  if (own->count < number) {
    void **wider = realloc(own->of, number * sizeof *wider);
    if (wider == NULL) abort();
    for (size_t i = own->count; i < number; i++) wider[i] = NULL;
    own->of = wider;
    own->count = number;
  }
  if (own->of[number - 1] == NULL) own->of[number - 1] = new_object(control);
  return own->of[number - 1];
}
