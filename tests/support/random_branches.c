#include "tests/support/random_net.h"

/* One bool, known when the plan is made or when it runs. */
static int condition(Net *net, int x)
{
    int64_t form = pick(net, 3);
    if (form == 0) {
        int all = node(net, "ReduceMax(v%d) {keepdims=0}", x);
        return node(net, "Less(v%d, c%d)", all, number(net, 1));
    }
    net->has_flag = true;
    return form == 1 ? node(net, "Not(flag)") : node(net, "Identity(flag)");
}

/* The graph of one branch. What it defines is not seen outside, so that nothing of it is kept. */
static void branch(Net *net, const char *attribute, int x, NetPart *part, VfText *text)
{
    Net before = *net;
    vf_text_init(&net->text, before.text.arena);
    net->depth++;
    int y = part(net, x);
    if (y <= before.n_value)
        y = node(net, "Identity(v%d)", y);
    vf_text_printf(text, "%s=graph branch%d () -> (v%d) {\n%s    }", attribute, net->n_branch, y,
                   net->text.data);
    Net after = *net;
    *net = before;
    net->state = after.state;
    net->n_value = after.n_value;
    net->n_const = after.n_const;
    net->n_branch = after.n_branch + 1;
    net->has_flag = after.has_flag;
}

int vf_net_if(Net *net, int x, NetPart *yes, NetPart *no)
{
    VfText text;
    vf_text_init(&text, net->text.arena);
    int decides = condition(net, x);
    branch(net, "then_branch", x, yes, &text);
    vf_text_string(&text, ", ");
    branch(net, "else_branch", x, no, &text);
    vf_text_printf(&net->text, "    v%d = If(v%d) {%s}\n", ++net->n_value, decides, text.data);
    return net->n_value;
}
