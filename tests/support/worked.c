#include "tests/support/worked.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static json_t *load(json_error_t *error)
{
    char path[512];
    const char *corpus = getenv("VITFOLD_CORPUS");
    snprintf(path, sizeof path, "%s/spec/worked-examples.json",
             corpus == NULL ? "../shared" : corpus);
    return json_load_file(path, 0, error);
}

bool vf_worked_is_here(void)
{
    json_error_t error;
    json_t *root = load(&error);
    bool is_absent = root == NULL && json_error_code(&error) == json_error_cannot_open_file;
    json_decref(root);
    return !is_absent;
}

static const json_t *child(const json_t *json, const char *key)
{
    return json_is_array(json) ? json_array_get(json, (size_t)strtol(key, NULL, 10))
                               : json_object_get(json, key);
}

/* A key of the object may itself hold dots ("A_relu_alpha0.5"): the whole rest goes first. */
static const json_t *find(const json_t *json, const char *path)
{
    char key[96];
    const json_t *whole = json_is_object(json) ? json_object_get(json, path) : NULL;
    size_t length = strcspn(path, ".");
    if (whole != NULL || json == NULL || length >= sizeof key)
        return whole;
    memcpy(key, path, length);
    key[length] = '\0';
    const json_t *next = child(json, key);
    return path[length] == '\0' ? next : find(next, path + length + 1);
}

static void flatten(const json_t *json, const char *path, VfWorked *out)
{
    for (size_t i = 0; json_is_array(json) && i < json_array_size(json); i++)
        flatten(json_array_get(json, i), path, out);
    if (json_is_array(json))
        return;
    bool is_room = out->n < VF_WORKED_MAX;
    ck_assert_msg(is_room && (json_is_number(json) || json_is_null(json)), "no numbers at '%s'",
                  path);
    out->at[out->n++] = json_is_null(json) ? (double)INFINITY : json_number_value(json);
}

VfWorked vf_worked(const char *path)
{
    json_error_t error;
    VfWorked numbers = {0};
    json_t *root = load(&error);
    ck_assert_msg(root != NULL, "%s line %d: %s", error.source, error.line, error.text);
    const json_t *found = find(root, path);
    ck_assert_msg(found != NULL, "nothing at '%s'", path);
    flatten(found, path, &numbers);
    json_decref(root);
    return numbers;
}

double vf_worked_number(const char *path)
{
    VfWorked numbers = vf_worked(path);
    ck_assert_msg(numbers.n == 1, "'%s' is a list", path);
    return numbers.at[0];
}

void vf_worked_check(const char *path, const double *got, size_t n, double tolerance)
{
    VfWorked want = vf_worked(path);
    ck_assert_msg(want.n == n, "%s: %zu numbers, not %zu", path, n, want.n);
    for (size_t i = 0; i < n; i++) {
        bool is_same = isinf(want.at[i]) && isinf(got[i]);
        bool is_near = fabs(got[i] - want.at[i]) <= tolerance * fmax(1, fabs(want.at[i]));
        ck_assert_msg(is_same || is_near, "%s[%zu]: %.15g, not %.15g", path, i, got[i],
                      want.at[i]);
    }
}
