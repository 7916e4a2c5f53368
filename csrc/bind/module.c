/* The extension module `pyscan._core`: its state, and the order in which the rooms add what they export.
 *
 * Relies on: every room. Relied on by: nothing in C; graph_state_of finds the module by core_module_def. */
#include "bind/bind.h"
#include "rewrite/rewrite.h"

static int core_exec(PyObject *module)
{
    CoreState *state = core_state_get(module);
    if (graph_module_exec(module, &state->graph) < 0) return -1;
    if (features_module_exec(module, &state->graph) < 0) return -1;
    if (rewrite_module_exec(module, &state->graph) < 0) return -1;
    if (tables_module_exec(module) < 0) return -1;
    return 0;
}

static int core_traverse(PyObject *module, visitproc visit, void *arg)
{
    return graph_state_traverse(&core_state_get(module)->graph, visit, arg);
}

static int core_clear(PyObject *module)
{
    graph_state_clear(&core_state_get(module)->graph);
    return 0;
}

static void core_free(void *module) { (void)core_clear((PyObject *)module); }

static PyModuleDef_Slot core_slots[] = {
    {Py_mod_exec, core_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

PyModuleDef core_module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pyscan._core",
    .m_doc = "The C core of pyscan: graphs, features, rewriting, programs.",
    .m_size = sizeof(CoreState),
    .m_slots = core_slots,
    .m_traverse = core_traverse,
    .m_clear = core_clear,
    .m_free = core_free,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&core_module_def); }
