/* The pool does every unit once, whatever the number of threads and whoever else uses it. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "runtime/exec/pool.h"
#include "tests/support/check_main.h"

enum { N_UNIT = 1000 };

typedef struct Count {
    atomic_int done[N_UNIT];
    atomic_int n_call;
    atomic_int most; /* units of one call */
    int32_t n_worker;
} Count;

static void count_units(void *user, int32_t worker, int64_t begin, int64_t end)
{
    Count *count = user;
    ck_assert(worker >= 0 && worker < count->n_worker && begin < end);
    int most = atomic_load(&count->most), mine = (int)(end - begin);
    while (most < mine && !atomic_compare_exchange_weak(&count->most, &most, mine))
        ;
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&count->done[i], 1);
    atomic_fetch_add(&count->n_call, 1);
}

static void share_once(VfPool *pool, int32_t n_thread, int64_t units, int64_t grain)
{
    Count count = {.n_worker = n_thread};
    vf_pool_share(pool, count_units, &count, units, grain);
    for (int64_t i = 0; i < N_UNIT; i++)
        ck_assert_int_eq(atomic_load(&count.done[i]), i < units ? 1 : 0);
    int n_call = atomic_load(&count.n_call);
    ck_assert_int_le(n_call, n_thread);
    ck_assert_int_le(n_call, (units + grain - 1) / grain);
    if (n_call > 0) /* equal shares */
        ck_assert_int_le(atomic_load(&count.most), (units + n_call - 1) / n_call);
}

static const int64_t share_table[][2] = {{0, 1}, {1, 1}, {2, 1}, {7, 3}, {N_UNIT, 1}, {N_UNIT, 64},
                                         {N_UNIT, N_UNIT}, {999, 500}};

START_TEST(every_unit_is_done_once)
{
    int32_t n_thread = _i + 1;
    VfPool *pool = vf_pool_new(n_thread);
    ck_assert_ptr_nonnull(pool);
    ck_assert_int_eq(vf_pool_size(pool), n_thread);
    for (int round = 0; round < 50; round++)
        for (size_t i = 0; i < sizeof share_table / sizeof *share_table; i++)
            share_once(pool, n_thread, share_table[i][0], share_table[i][1]);
    vf_pool_free(pool);
}
END_TEST

START_TEST(without_a_pool_the_caller_works)
{
    ck_assert_int_eq(vf_pool_size(NULL), 1);
    share_once(NULL, 1, N_UNIT, 10);
    vf_pool_free(NULL);
}
END_TEST

START_TEST(numbers_of_threads_that_make_no_sense)
{
    ck_assert_ptr_null(vf_pool_new(0));
    ck_assert_ptr_null(vf_pool_new(-3));
    ck_assert_ptr_null(vf_pool_new(1 << 20));
}
END_TEST

static void *use_pool(void *user)
{
    for (int round = 0; round < 200; round++)
        share_once(user, 3, N_UNIT, 16);
    return NULL;
}

START_TEST(two_callers_share_one_pool)
{
    VfPool *pool = vf_pool_new(3);
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, use_pool, pool), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    vf_pool_free(pool);
}
END_TEST

/* Who waits sleeps meanwhile, and is woken. */
static void take_long(void *user, int32_t worker, int64_t begin, int64_t end)
{
    struct timespec pause = {0, 2000000};
    if (worker == *(int32_t *)user)
        nanosleep(&pause, NULL);
    (void)begin, (void)end;
}

START_TEST(a_wait_may_be_long)
{
    VfPool *pool = vf_pool_new(2);
    for (int32_t round = 0; round < 20; round++) {
        int32_t slow = round % 2;
        vf_pool_share(pool, take_long, &slow, 2, 1);
        share_once(pool, 2, N_UNIT, 16);
    }
    vf_pool_free(pool);
}
END_TEST

START_TEST(more_threads_than_processors)
{
    int32_t n_thread = vf_processor_count() + 2;
    VfPool *pool = vf_pool_new(n_thread);
    ck_assert_ptr_nonnull(pool);
    for (int round = 0; round < 50; round++)
        share_once(pool, n_thread, N_UNIT, 16);
    vf_pool_free(pool);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("exec/pool");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, every_unit_is_done_once, 0, 4);
    tcase_add_test(tcase, without_a_pool_the_caller_works);
    tcase_add_test(tcase, numbers_of_threads_that_make_no_sense);
    tcase_add_test(tcase, two_callers_share_one_pool);
    tcase_add_test(tcase, a_wait_may_be_long);
    tcase_add_test(tcase, more_threads_than_processors);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
