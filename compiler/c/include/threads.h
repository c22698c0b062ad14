/* Refused: see the message. */
#error C11 threads (<threads.h>) is not supported; use OpenACC constructs
