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
    if (tables_module_exec(module) < 0 || convert_module_exec(module) < 0 || bitgens_module_exec(module) < 0) return -1;
    if (selfcheck_module_exec(module) < 0 || kernels_module_exec(module) < 0 || library_module_exec(module) < 0 || thunk_module_exec(module) < 0 || function_module_exec(module) < 0) return -1;
    return 0;
}

static int core_traverse(PyObject *module, visitproc visit, void *arg)
{
    BindState *bind = &core_state_get(module)->bind;

    Py_VISIT(bind->Thunk);
    Py_VISIT(bind->Generator);
    Py_VISIT(bind->RandomState);
    Py_VISIT(bind->BitGenerator);
    Py_VISIT(bind->deepcopy);
    Py_VISIT(bind->matmul);
    Py_VISIT(bind->bit_classes);
    Py_VISIT(bind->active_changed);
    Py_VISIT(bind->methods);
    Py_VISIT(bind->acquire);
    Py_VISIT(bind->release);
    Py_VISIT(bind->bit_generator);
    Py_VISIT(bind->lock);
    return graph_state_traverse(&core_state_get(module)->graph, visit, arg);
}

static int core_clear(PyObject *module)
{
    BindState *bind = &core_state_get(module)->bind;

    Py_CLEAR(bind->Thunk);
    Py_CLEAR(bind->Generator);
    Py_CLEAR(bind->RandomState);
    Py_CLEAR(bind->BitGenerator);
    Py_CLEAR(bind->deepcopy);
    Py_CLEAR(bind->matmul);
    bind->last_class_type = NULL;
    Py_CLEAR(bind->bit_classes);
    Py_CLEAR(bind->active_changed);
    Py_CLEAR(bind->methods);
    Py_CLEAR(bind->acquire);
    Py_CLEAR(bind->release);
    Py_CLEAR(bind->bit_generator);
    Py_CLEAR(bind->lock);
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
