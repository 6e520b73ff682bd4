/* The Collatz chains of a range, as an extension of Python.
 *
 * It keeps to the stable interface of Python 3.9, so that one build runs in every later version, and it computes with integers alone:
 * every machine that runs it gives the same answer. */
#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef unsigned __int128 wide;

/* Chains that begin below this stay far below 2^127. */
#define MOST (1ULL << 40)

static unsigned long long steps_of(unsigned long long start)
{
    unsigned long long steps = 0;
    for (wide n = start; n != 1; steps++)
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return steps;
}

/* chains(from, to) -> (the most steps, all steps together) of the chains that begin at from, ..., to - 1. */
static PyObject *chains(PyObject *self, PyObject *args)
{
    unsigned long long from, to, longest = 0, all = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "KK", &from, &to))
        return NULL;
    if (from < 1 || to > MOST) {
        PyErr_SetString(PyExc_ValueError, "the range must lie in [1, 2^40]");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    for (unsigned long long n = from; n < to; n++) {
        unsigned long long steps = steps_of(n);
        longest = steps > longest ? steps : longest;
        all += steps;
    }
    Py_END_ALLOW_THREADS
    return Py_BuildValue("KK", longest, all);
}

static PyMethodDef methods[] = {
    {"chains", chains, METH_VARARGS, "The most steps of a chain, and all steps together, of chains that begin in a range."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_collatz", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__collatz(void)
{
    return PyModule_Create(&module);
}
