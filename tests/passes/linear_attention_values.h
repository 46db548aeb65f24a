/* Examples of the specification, to their digits: keys `sla`, `sla_prefix_token` and
 * `sla_region_mask` of worked-examples.json. */
#ifndef VF_TESTS_LINEAR_ATTENTION_VALUES_H
#define VF_TESTS_LINEAR_ATTENTION_VALUES_H

static const double sla_eps = 1e-6;
static const double sla_q[] = {0.5, 0.5, 1, -0.5, 0.5, 2, -1, -2, 0.25, 0.75};
static const double sla_k[] = {1, 0.25, 0.5, 1, -1, 0.5, 1, -1, 0.25, 0.5};
static const double sla_v[] = {0.5, -0.5, 1, 2, 0, -1, 3, 0.5, -2, 1};
static const double sla_pos[] = {0, 0, 0, 0.25, 0.5, 0, 0, 0, -0.5, 0.25};
static const double sla_kernel[] = {0.1, 0,   -0.1, 0.2, 0.5,  0.2, 0, -0.3, 0,
                                    0,   0.1, 0,    0.1, -0.4, 0.1, 0, 0.1,  0.25};
static const double sla_bias[] = {0.05, -0.1};
static const double sla_region[] = {0, 0, 1, 1};

/* Rows of the grid without the prefix token. */
static const double sla_core[] = {2.33333177777881,  0.999999333333778, 0.217391266540649,
                                  1.08695633270325,  0,                 0,
                                  0.305555419753147, 1.08333285185207};
static const double sla_out[] = {1.98333177777882,   0.299999333333778, 1.06739126654065,
                                 1.68695633270325,   1.15,              0,
                                 0.0555554197531468, 0.533332851852066};
static const double sla_prefix_core[] = {
    0.738094956916207, 0.690475927437742, 1.59999936000026,  0.399999840000064, 0.259259220850486,
    0.851851725651596, 0,                 0,                 0.337209176852399, 0.825581088155874};
static const double sla_prefix_out[] = {0.738094956916207,  0.690475927437742,  1.24999936000026,
                                        -0.300000159999936, 1.10925922085049,   1.4518517256516,
                                        1.15,               0,                  0.0872091768523994,
                                        0.275581088155874};
static const double sla_region_core[] = {0.999998000004,     1.999996000008, 0.73333313777783,
                                         1.19999968000009,   0,              0,
                                         -0.461537893491823, 0.84615280473501};

#endif
