"""The rows of the table of names: see names.py, which reads them.

MODULES: a module of Aesara -> the modules of pyscan whose public names stand there; `module:a,b=c` takes a, and b as c.
ABSENT: (what it is, what comes nearest, {module of Aesara: names}).

Relies on: nothing. Relied on by: names.
"""
from __future__ import annotations

# The version whose names these are.
AESARA_VERSION = "2.9.4"

MODULES: dict[str, str] = {
    "": "pyscan pyscan.profiling pyscan.function:function_dump pyscan.graph:Variable,clone_replace pyscan.tensor.basic:as_tensor_variable=as_symbolic",
    "_version": "",
    "assert_op": "pyscan.raise_op",
    "compile": "pyscan.function pyscan.maker:rebuild_collect_shared pyscan.io pyscan.mode pyscan.ops pyscan.sharedvalue pyscan.errors:UnusedInputError "
               "pyscan.features:Supervisor pyscan.profiling",
    "compile.profiling": "pyscan.profiling",
    "compile.function": "pyscan.function",
    "compile.function.pfunc": "pyscan.function pyscan.io pyscan.maker:rebuild_collect_shared",
    "compile.function.types": "pyscan.function pyscan.ops:update_placeholder pyscan.features pyscan.io pyscan.errors:UnusedInputError pyscan.graph:FunctionGraph",
    "compile.builders": "pyscan.builders pyscan.ops:update_placeholder",
    "compile.io": "pyscan.io",
    "compile.mode": "pyscan.mode",
    "compile.ops": "pyscan.ops",
    "compile.sharedvalue": "pyscan.sharedvalue",
    "configdefaults": "pyscan.config:config",
    "configparser": "pyscan.config:config,Config=AesaraConfigParser",
    "graph": "pyscan.graph pyscan.errors pyscan.mode:RewriteDatabaseQuery pyscan.rewriting:graph_rewriter,node_rewriter,rewrite_graph",
    "graph.basic": "pyscan.graph pyscan.printing:as_string",
    "graph.destroyhandler": "pyscan.features pyscan.graph",
    "graph.features": "pyscan.features",
    "graph.fg": "pyscan.graph pyscan.features",
    "graph.op": "pyscan.graph pyscan.trial_values:compute_test_value",
    "graph.opt": "pyscan.rewriting:GraphRewriter,GraphRewriter=GlobalOptimizer,NodeRewriter=LocalOptimizer",
    "graph.opt_utils": "pyscan.rewriting:rewrite_graph=optimize_graph,is_same_graph,rewrite_graph",
    "graph.rewriting.basic": "pyscan.rewriting pyscan.rewriting:GraphRewriter=GlobalOptimizer",
    "graph.rewriting.db": "pyscan.mode:RewriteDatabaseQuery",
    "graph.rewriting.utils": "pyscan.rewriting:is_same_graph,is_same_graph=is_same_graph_with_merge,rewrite_graph=optimize_graph,rewrite_graph",
    "graph.toolbox": "pyscan.features",
    "graph.type": "pyscan.graph",
    "graph.utils": "pyscan.graph pyscan.errors",
    "d3viz.formatting": "pyscan.compat:pydot_imported,pydot_imported_msg",
    "ifelse": "pyscan.ifelse",
    "link.basic": "pyscan.sharedvalue:Container pyscan.compat:Linker,Linker=LocalLinker,Linker=PerformLinker,Linker=WrapLinker,Linker=JITLinker",
    "link.c.basic": "pyscan.compat:Linker=CLinker,Linker=OpWiseCLinker,Linker=DualLinker",
    "link.c.type": "pyscan.sharedvalue:generic,Generic",
    "link.vm": "pyscan.compat:Linker=VMLinker",
    "misc.pkl_utils": "pyscan.saving",
    "misc.safe_asarray": "pyscan.compat:asarray=_asarray",
    "printing": "pyscan.printing pyscan.compat:pydot_imported,pydot_imported_msg",
    "raise_op": "pyscan.raise_op",
    "scalar": "pyscan.scalar",
    "scalar.basic": "pyscan.scalar",
    "scalar.math": "pyscan.scalar",
    "scan": "pyscan.scan",
    "scan.basic": "pyscan.scan:scan",
    "scan.checkpoints": "pyscan.scan:scan_checkpoints",
    "scan.op": "pyscan.scan_op",
    "scan.utils": "pyscan.scan:until",
    "scan.views": "pyscan.scan:map,reduce,foldl,foldr",
    "tensor": "pyscan.tensor pyscan.graph:Constant,Op,Variable",
    "tensor.basic": "pyscan.tensor.basic pyscan.tensor pyscan.tensor.extra_ops:AllocDiag,Choose,ExtractDiag,Eye,Nonzero,Tri",
    "tensor.blas": "pyscan.tensor.math:BatchedDot,batched_dot,batched_tensordot",
    "tensor.elemwise": "pyscan.tensor.elemwise",
    "tensor.exceptions": "pyscan.tensor.basic pyscan.errors",
    "tensor.extra_ops": "pyscan.tensor.extra_ops pyscan.tensor.shape:squeeze",
    "tensor.linalg": "pyscan.tensor.linalg",
    "tensor.math": "pyscan.tensor.math pyscan.compat:allclose=_allclose",
    "tensor.nlinalg": "pyscan.tensor.nlinalg pyscan.tensor.nlinalg:MatrixInverse=Inv pyscan.tensor.extra_ops:extract_diag",
    "tensor.nnet": "pyscan.tensor.nnet",
    "tensor.nnet.basic": "pyscan.tensor.nnet",
    "tensor.nnet.sigm": "pyscan.tensor.nnet:hard_sigmoid,sigmoid",
    "tensor.random": "pyscan.tensor.random",
    "tensor.random.basic": "pyscan.tensor.random",
    "tensor.random.op": "pyscan.tensor.random",
    "tensor.random.type": "pyscan.tensor.random",
    "tensor.random.utils": "pyscan.tensor.random",
    "tensor.random.var": "pyscan.tensor.random",
    "tensor.shape": "pyscan.tensor.shape",
    "tensor.sharedvar": "pyscan.tensor.sharedvar",
    "tensor.slinalg": "pyscan.tensor.slinalg pyscan.tensor.slinalg:Solve=SolveBase",
    "tensor.sort": "pyscan.tensor.sort",
    "tensor.special": "pyscan.tensor.special",
    "tensor.subtensor": "pyscan.tensor.subtensor",
    "tensor.type": "pyscan.tensor.type",
    "tensor.type_other": "pyscan.tensor.type_other",
    "tensor.var": "pyscan.tensor.variable",
    "updates": "pyscan.updates",
    "version": "pyscan.version:__version__=version",
}

ABSENT: tuple[tuple[str, str, dict[str, str]], ...] = (
    ('gradients',
     "There is no differentiation yet: write the derivative's recurrence as a scan of its own, or take differences.", {
        "": "Lop Rop grad subgraph_grad",
        "gradient":
            "ConsiderConstant DisconnectedGrad DisconnectedInputError DisconnectedType GradClip GradScale GradientError Lop "
            "NullTypeGradError Rop UndefinedGrad ZeroGrad as_list_or_tuple config consider_constant consider_constant_ "
            "disconnected_grad disconnected_grad_ disconnected_type grad grad_clip grad_not_implemented grad_scale "
            "grad_undefined hessian jacobian mode_not_slow null_type numeric_grad subgraph_grad undefined_grad "
            "undefined_grad_ verify_grad zero_grad zero_grad_",
        "graph.null_type": "NullType null_type",
        "sandbox.fourier": "GradTodo grad_todo",
        "sandbox.rng_mrg": "mrg_next_value mrg_random_make_inplace mrg_uniform mrg_uniform_base",
        "scalar": "grad_not_implemented",
        "tensor": "consider_constant grad hessian jacobian",
        "tensor.extra_ops": "disconnected_type",
        "tensor.math_opt": "local_grad_log_erfc_neg",
        "tensor.nlinalg": "EighGrad",
        "tensor.rewriting.math": "local_grad_log_erfc_neg",
        "tensor.rewriting.special": "local_logsoftmax_grad",
        "tensor.signal.pool": "AveragePoolGrad DownsampleFactorMaxGradGrad MaxPoolGrad PoolGrad",
        "tensor.slinalg": "EigvalshGrad ExpmGrad",
        "tensor.special": "SoftmaxGrad",
        "tensor.utils": "as_list",
    }),
    ('sparse matrices', 'Dense tensors of pyscan.tensor take their place.', {
        "sparse":
            "AddSD AddSS AddSSData Apply COp CSC CSM CSMGrad CSMProperties CSR Cast ColScaleCSC Constant "
            "ConstructSparseFromList DenseFromSparse Diag DisconnectedType Dot EnsureSortedIndices EqualSD EqualSS "
            "GetItem2Lists GetItem2ListsGrad GetItem2d GetItemList GetItemListGrad GetItemScalar GreaterEqualSD "
            "GreaterEqualSS GreaterThanSD GreaterThanSS HStack LessEqualSD LessEqualSS LessThanSD LessThanSS MulSD MulSS "
            "MulSV Neg NotEqualSD NotEqualSS Op Remove0 RowScaleCSC SamplingDot SpSum SparseConstant SparseConstantSignature "
            "SparseFromDense SparseTensorType SparseVariable Split SquareDiagonal StructuredAddSV StructuredDot "
            "StructuredDotGradCSC StructuredDotGradCSR TensorConstant TensorType TensorVariable Transpose TrueDot Usmm VStack "
            "Variable add add_s_d add_s_s add_s_s_data arcsin arcsinh arctan arctanh as_sparse as_sparse_or_tensor_variable "
            "as_sparse_variable as_symbolic as_symbolic_sparse at_add at_dot at_pow bcast bsr_dmatrix bsr_fmatrix bsr_matrix "
            "cast ccast ceil clean col_scale config conj conjugate constant construct_sparse_from_list csc_dmatrix "
            "csc_fmatrix csc_from_dense csc_matrix csm_data csm_grad csm_indices csm_indptr csm_properties csm_shape "
            "csr_dmatrix csr_fmatrix csr_from_dense csr_matrix dcast deg2rad dense_from_sparse diag dot ensure_sorted_indices "
            "eq equal_s_d equal_s_s exp expm1 fcast floor ge generic get_item_2d get_item_2lists get_item_2lists_grad "
            "get_item_list get_item_list_grad get_item_scalar grad_not_implemented grad_undefined greater_equal_s_d "
            "greater_equal_s_s greater_than_s_d greater_than_s_s gt hash_from_sparse hstack icast iscalar ivector lcast le "
            "less_equal_s_d less_equal_s_s less_than_s_d less_than_s_s log log1p lt matrix maximum minimum mul mul_s_d "
            "mul_s_s mul_s_v neg neq not_equal_s_d not_equal_s_s override_dense rad2deg remove0 rint round_half_to_even "
            "row_scale sampling_dot scalar sdg_csc sdg_csr sgn shape shared sigmoid sin sinh sp_ones_like sp_sum "
            "sp_zeros_like sparse_grad specify_broadcastable sqrt square square_diagonal structured_add structured_add_s_v "
            "structured_dot structured_dot_grad structured_exp structured_log structured_maximum structured_minimum "
            "structured_monoid structured_pow structured_sigmoid sub tan tanh tensor transpose true_dot trunc usmm vector "
            "vstack wcast zcast",
        "sparse.basic":
            "AddSD AddSS AddSSData CSC CSM CSMGrad CSMProperties CSR Cast ColScaleCSC ConstructSparseFromList DenseFromSparse "
            "Diag Dot EnsureSortedIndices EqualSD EqualSS GetItem2Lists GetItem2ListsGrad GetItem2d GetItemList "
            "GetItemListGrad GetItemScalar GreaterEqualSD GreaterEqualSS GreaterThanSD GreaterThanSS HStack LessEqualSD "
            "LessEqualSS LessThanSD LessThanSS MulSD MulSS MulSV Neg NotEqualSD NotEqualSS Remove0 RowScaleCSC SamplingDot "
            "SpSum SparseConstant SparseConstantSignature SparseFromDense SparseVariable SquareDiagonal StructuredAddSV "
            "StructuredDot StructuredDotGradCSC StructuredDotGradCSR Transpose TrueDot Usmm VStack _is_dense_variable "
            "_is_sparse _is_sparse_variable _mtypes add add_s_d add_s_s add_s_s_data arcsin arcsinh arctan arctanh as_sparse "
            "as_sparse_variable as_symbolic_sparse at_add at_pow bcast bsr_dmatrix bsr_fmatrix bsr_matrix cast ccast ceil "
            "clean col_scale config conj conjugate constant construct_sparse_from_list csc_dmatrix csc_fmatrix csc_from_dense "
            "csc_matrix csm_data csm_grad csm_indices csm_indptr csm_properties csm_shape csr_dmatrix csr_fmatrix "
            "csr_from_dense csr_matrix dcast deg2rad dense_from_sparse diag dot ensure_sorted_indices eq equal_s_d equal_s_s "
            "exp expm1 fcast floor ge generic get_item_2d get_item_2lists get_item_2lists_grad get_item_list "
            "get_item_list_grad get_item_scalar greater_equal_s_d greater_equal_s_s greater_than_s_d greater_than_s_s gt "
            "hstack icast iscalar ivector lcast le less_equal_s_d less_equal_s_s less_than_s_d less_than_s_s log log1p lt "
            "matrix maximum minimum mul mul_s_d mul_s_s mul_s_v neg neq not_equal_s_d not_equal_s_s override_dense rad2deg "
            "remove0 rint round_half_to_even row_scale sampling_dot sdg_csc sdg_csr sgn sigmoid sin sinh sp_ones_like sp_sum "
            "sp_zeros_like sqrt square square_diagonal structured_add structured_add_s_v structured_dot structured_dot_grad "
            "structured_exp structured_log structured_maximum structured_minimum structured_monoid structured_pow "
            "structured_sigmoid sub tan tanh transpose true_dot trunc usmm vstack wcast zcast",
        "sparse.opt":
            "CSC CSR config csm_grad_c csm_properties local_addsd_ccode local_csm_grad_c local_csm_properties_csm "
            "local_dense_from_sparse_sparse_from_dense local_inplace_addsd_ccode local_inplace_remove0 local_mul_s_d "
            "local_mul_s_v local_sampling_dot_csr local_structured_add_s_v local_structured_dot local_usmm "
            "local_usmm_csc_dense_inplace local_usmm_csx mul mul_s_d_csc mul_s_d_csr mul_s_v_csr neg sampling_dot_csr sd_csc "
            "sd_csr structured_add_s_v_csr sub usmm usmm_csc_dense usmm_csc_dense_inplace",
        "sparse.rewriting":
            "AddSD_ccode CSC CSMGradC CSR MulSDCSC MulSDCSR MulSVCSR SamplingDotCSR StructuredAddSVCSR StructuredDotCSC "
            "StructuredDotCSR UsmmCscDense config csm_grad_c csm_properties local_addsd_ccode local_csm_grad_c "
            "local_csm_properties_csm local_dense_from_sparse_sparse_from_dense local_inplace_addsd_ccode "
            "local_inplace_remove0 local_mul_s_d local_mul_s_v local_sampling_dot_csr local_structured_add_s_v "
            "local_structured_dot local_usmm local_usmm_csc_dense_inplace local_usmm_csx mul mul_s_d_csc mul_s_d_csr "
            "mul_s_v_csr neg sampling_dot_csr sd_csc sd_csr structured_add_s_v_csr sub usmm usmm_csc_dense "
            "usmm_csc_dense_inplace",
        "sparse.sandbox": "",
        "sparse.sandbox.sp": "ConvolutionIndices convolution_indices convolve max_pool register_specialize",
        "sparse.sandbox.sp2":
            "Binomial Multinomial Poisson csc_dbinomial csc_fbinomial csr_dbinomial csr_fbinomial eliminate_zeros multinomial "
            "poisson remove0",
        "sparse.sharedvar": "SparseTensorSharedVariable sparse_constructor",
        "sparse.type": "SparseTensorType SparseType",
        "sparse.utils": "hash_from_sparse",
    }),
    ('layers of neural networks', 'pyscan.tensor.nnet has the activations and losses, and pyscan.tensor dot to write layers with.', {
        "tensor.nnet":
            "abstract_conv2d batch_normalization confusion_matrix conv2d "
            "conv2d_grad_wrt_inputs conv2d_transpose conv3d crossentropy_categorical_1hot_grad "
            "crossentropy_softmax_1hot crossentropy_softmax_1hot_with_bias crossentropy_softmax_1hot_with_bias_dx "
            "crossentropy_softmax_argmax_1hot_with_bias crossentropy_softmax_max_and_argmax_1hot "
            "crossentropy_softmax_max_and_argmax_1hot_with_bias crossentropy_to_crossentropy_with_softmax "
            "crossentropy_to_crossentropy_with_softmax_with_bias graph_merge_softmax_with_crossentropy_softmax h_softmax "
            "prepend_0_to_each_row prepend_1_to_each_row prepend_scalar_to_each_row "
            "separable_conv2d softmax_grad_legacy softmax_legacy softmax_simplifier "
            "softmax_with_bias ultra_fast_sigmoid",
        "tensor.nnet.abstract_conv":
            "AbstractConv AbstractConv2d AbstractConv2d_gradInputs AbstractConv2d_gradWeights AbstractConv3d "
            "AbstractConv3d_gradInputs AbstractConv3d_gradWeights AbstractConv_gradInputs AbstractConv_gradWeights "
            "BaseAbstractConv abstract_conv2d assert_conv_shape assert_shape bilinear_kernel_1D bilinear_kernel_2D "
            "bilinear_upsampling border_mode_to_pad causal_conv1d check_conv_gradinputs_shape config conv2d "
            "conv2d_grad_wrt_inputs conv2d_grad_wrt_weights conv2d_transpose conv3d conv3d_grad_wrt_inputs "
            "conv3d_grad_wrt_weights frac_bilinear_upsampling get_conv_gradinputs_shape get_conv_gradinputs_shape_1axis "
            "get_conv_gradweights_shape get_conv_gradweights_shape_1axis get_conv_output_shape get_conv_shape_1axis "
            "separable_conv2d separable_conv3d",
        "tensor.nnet.basic":
            "CrossentropyCategorical1Hot CrossentropyCategorical1HotGrad CrossentropySoftmax1HotWithBiasDx "
            "CrossentropySoftmaxArgmax1HotWithBias Prepend_scalar_constant_to_each_row Prepend_scalar_to_each_row "
            "ScalarSoftsign Softmax SoftmaxGrad SoftmaxWithBias add "
            "confusion_matrix crossentropy_categorical_1hot_grad crossentropy_softmax_1hot "
            "crossentropy_softmax_1hot_with_bias crossentropy_softmax_1hot_with_bias_dx "
            "crossentropy_softmax_argmax_1hot_with_bias crossentropy_softmax_max_and_argmax_1hot "
            "crossentropy_softmax_max_and_argmax_1hot_with_bias crossentropy_to_crossentropy_with_softmax "
            "crossentropy_to_crossentropy_with_softmax_with_bias eq exp "
            "graph_merge_softmax_with_crossentropy_softmax h_softmax local_advanced_indexing_crossentropy_onehot "
            "local_advanced_indexing_crossentropy_onehot_grad local_argmax_pushdown local_mul_canonizer "
            "local_softmax_grad_to_crossentropy_with_softmax_grad local_softmax_with_bias "
            "local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc mul optdb or_ prepend_0_to_each_row "
            "prepend_1_to_each_row prepend_scalar_to_each_row scalar_softsign "
            "softmax_grad_legacy softmax_legacy softmax_simplifier softmax_with_bias tanh true_divide",
        "tensor.nnet.batchnorm":
            "AbstractBatchNormInference AbstractBatchNormTrain AbstractBatchNormTrainGrad BNComposite add batch_normalization "
            "batch_normalization_test batch_normalization_train bn_groupopt config local_abstract_batch_norm_inference "
            "local_abstract_batch_norm_train local_abstract_batch_norm_train_grad mul reciprocal sqrt sub true_divide",
        "tensor.nnet.blocksparse":
            "SparseBlockGemv SparseBlockOuter sparse_block_dot sparse_block_gemv sparse_block_gemv_inplace sparse_block_outer "
            "sparse_block_outer_inplace",
        "tensor.nnet.conv": "ConvOp conv2d gen_conv_code_unroll_batch_kern",
        "tensor.nnet.conv3d2d":
            "DiagonalSubtensor IncDiagonalSubtensor conv3d diagonal_subtensor get_diagonal_subtensor_view "
            "inc_diagonal_subtensor local_inplace_DiagonalSubtensor",
        "tensor.nnet.corr": "BaseCorrMM CorrMM CorrMM_gradInputs CorrMM_gradWeights config int64 int8",
        "tensor.nnet.corr3d": "BaseCorr3dMM Corr3dMM Corr3dMMGradInputs Corr3dMMGradWeights config int64",
        "tensor.nnet.ctc":
            "ConnectionistTemporalClassification config cpu_contiguous ctc ctc_available ctc_present ftensor3 fvector "
            "local_ctc_no_grad",
        "tensor.nnet.neighbours": "Images2Neibs images2neibs neibs2images",
        "tensor.nnet.opt":
            "config conv_groupopt local_abstractconv3d_gemm local_abstractconv3d_gradinputs_gemm "
            "local_abstractconv3d_gradweight_gemm local_abstractconv_check local_abstractconv_gemm "
            "local_abstractconv_gradinputs_gemm local_abstractconv_gradweight_gemm local_conv2d_cpu "
            "local_conv2d_gradinputs_cpu local_conv2d_gradweight_cpu local_inplace_sparse_block_gemv "
            "local_inplace_sparse_block_outer optdb sparse_block_gemv_inplace sparse_block_outer_inplace",
        "tensor.nnet.rewriting":
            "config conv_groupopt local_abstractconv3d_gemm local_abstractconv3d_gradinputs_gemm "
            "local_abstractconv3d_gradweight_gemm local_abstractconv_check local_abstractconv_gemm "
            "local_abstractconv_gradinputs_gemm local_abstractconv_gradweight_gemm local_conv2d_cpu "
            "local_conv2d_gradinputs_cpu local_conv2d_gradweight_cpu local_inplace_sparse_block_gemv "
            "local_inplace_sparse_block_outer optdb sparse_block_gemv_inplace sparse_block_outer_inplace",
        "tensor.nnet.sigm":
            "UltraFastScalarSigmoid clip local_hard_sigmoid local_ultra_fast_sigmoid pprint scalar_sigmoid "
            "ultra_fast_scalar_sigmoid ultra_fast_sigmoid ultra_fast_sigmoid_inplace",
    }),
    ('signal processing', 'pyscan.as_op makes an operation of a Python function.', {
        "sandbox.fourier": "FFT dct_matrix fft generic half_fft half_ifft ifft zmatrix",
        "tensor.fft": "IRFFTOp RFFTOp irfft irfft_op rfft rfft_op sqrt",
        "tensor.fourier": "Fourier exp fft lt switch",
        "tensor.signal": "",
        "tensor.signal.conv": "conv2d",
        "tensor.signal.pool": "MaxPoolRop Pool bool_t max_pool_2d_same_size pool_2d pool_3d",
    }),
    ('a mode that checks a function while it runs',
     'mode="FAST_COMPILE" runs the graph nearly as it was written, and pyscan.printing.Print shows values.', {
        "compile": "MonitorMode",
        "compile.debugmode":
            "BadDestroyMap BadOptimization BadThunkOutput BadViewMap DataDestroyed DebugMode DebugModeError InvalidValueError "
            "StochasticOrder check_eq config data_destroyed str_diagnostic validity_hint",
        "compile.monitormode": "MonitorMode config detect_nan",
        "compile.nanguardmode": "NanGuardMode config contains_inf contains_nan flatten",
    }),
    ('profiles of functions', 'f.counters tells what the last call did.', {
        "compile.profiling": "config extended_open print_global_stats register_profiler_printer",
        "d3viz.formatting": "apply_profile",
        "scan.op": "profile_printer",
        "scan.utils": "ScanProfileStats",
    }),
    ('an inner part of operations made of graphs', 'pyscan.builders.OpFromGraph makes an operation of a graph.', {
        "compile.builders": "config construct_nominal_fgraph infer_shape inline_ofg_expansion optdb",
    }),
    ('drawings of graphs', 'pyscan.dprint prints a graph as a tree.', {
        "d3viz": "d3write",
        "d3viz.d3viz": "PyDotFormatter d3viz d3write replace_patterns safe_json",
        "d3viz.formatting": "PyDotFormatter apply_label broadcastable_to_str dict_to_pdnode dtype_to_char type_to_str var_label var_tag",
        "printing": "pydotprint",
    }),
    ('lists as symbolic values', 'pyscan.tensor.stack and join make one tensor of several.', {
        "typed_list":
            "Append Apply COp Constant Count Extend GetItem Index Insert Length MakeList Op Remove Reverse SliceType "
            "TensorVariable TypedListConstant TypedListType TypedListVariable Variable append config count extend getitem "
            "index_ insert length make_list remove reverse scalar",
        "typed_list.basic":
            "Append Count Extend GetItem Index Insert Length MakeList Remove Reverse TypedListConstant TypedListVariable "
            "append config count extend getitem index_ insert length make_list remove reverse",
        "typed_list.rewriting": "optdb typed_list_inplace_rewrite",
        "typed_list.type": "TypedListType",
    }),
    ('generated code, linkers and back ends', "Every function runs on pyscan's own core: leave the linker out.", {
        "compile": "register_deep_copy_op_c_code register_linker register_view_op_c_code",
        "compile.compiledir": "basecompiledir_ls basecompiledir_purge cleanup compiledir_purge config print_compiledir_content print_title",
        "compile.compilelock": "ThreadFileLocks config force_unlock local_mem lock_ctx",
        "compile.mode": "register_linker",
        "compile.ops": "register_deep_copy_op_c_code register_view_op_c_code",
        "link": "",
        "link.basic": "WrapLinkerMany config",
        "link.c": "",
        "link.c.basic":
            "CodeBlock apply_policy code_gen config failure_code failure_code_init get_c_cleanup get_c_declare get_c_extract "
            "get_c_extract_out get_c_init get_c_sync get_module_cache get_nothing struct_gen struct_variable_codeblocks",
        "link.c.cmodule":
            "Compiler DynamicModule ExtFunction GCCLLVMType GCC_compiler KeyData ModuleCache StdLibDirsAndLibsType "
            "add_blas_configvars check_mkl_openmp config debug_counter default_blas_ldflags dlimport dlimport_workdir "
            "gcc_llvm gcc_version get_gcc_shared_library_arg get_lib_extension get_module_cache get_module_hash get_safe_part "
            "icc_module_compile_str is_GCCLLVMType is_StdLibDirsAndLibsType is_same_entry last_access_time "
            "module_name_from_dir std_include_dirs std_lib_dirs std_lib_dirs_and_libs std_libs try_blas_flag try_march_flag",
        "link.c.cutils": "compile_cutils config",
        "link.c.cvm": "CVM config",
        "link.c.exceptions": "CompileError MissingGXX",
        "link.c.interface": "CLinkerObject CLinkerOp CLinkerType HideC",
        "link.c.lazylinker_c": "config try_import try_reload",
        "link.c.op":
            "COp CThunkWrapperType ExternalCOp OpenMPOp config get_io_macros get_sub_macros is_cthunk_wrapper_type "
            "lquote_macro",
        "link.c.params_type": "Params ParamsType",
        "link.c.type": "CDataType CDataTypeConstant CEnumType CType EnumList EnumType",
        "link.jax": "JAXLinker",
        "link.jax.dispatch": "",
        "link.jax.dispatch.random": "",
        "link.jax.jax_linker": "",
        "link.jax.linker": "JAXLinker",
        "link.numba": "NumbaLinker",
        "link.numba.dispatch": "",
        "link.numba.dispatch.sparse": "",
        "link.numba.linker": "NumbaLinker",
        "link.utils":
            "compile_function_src config fgraph_to_python gc_helper get_destroy_dependencies get_name_for_object map_storage "
            "raise_with_op register_thunk_trace_excepthook streamline unique_name_generator",
        "link.vm": "Loop Stack UpdatingVM VM calculate_reallocate_info config",
        "scan.scan_perform_ext": "config try_import try_reload",
        "tensor.blas":
            "Dot22 Dot22Scalar Gemm GemmOptimizer GemmRelated Gemv Ger _as_scalar _dot22 _dot22scalar "
            "_factor_canonicalized _gemm_canonicalize _is_real_matrix add blas_opt_inplace "
            "blas_optdb bool_t check_init_y config gemm gemm_inplace gemm_no_inplace gemv gemv_inplace gemv_no_inplace ger "
            "ger_destructive ldflags local_dimshuffle_lift local_dot22_to_dot22scalar local_dot22_to_ger_or_gemv "
            "local_dot_to_dot22 local_gemm_to_gemv local_gemm_to_ger local_inplace_gemm local_inplace_gemv local_inplace_ger "
            "local_print_as_we_go_along mul neg optdb pprint res_is_a sub",
        "tensor.blas_c":
            "BaseBLAS CGemv CGer blas_optdb bool_t cgemv_inplace cgemv_no_inplace cger_inplace cger_no_inplace "
            "check_force_gemv_init config gemv_c_code gemv_inplace gemv_no_inplace ger ger_c_code ger_destructive "
            "make_c_gemv_destructive make_c_ger_destructive optdb use_c_gemv use_c_ger",
        "tensor.blas_headers":
            "blas_header_text blas_header_version cblas_header_text config detect_macos_sdot_bug mkl_threads_text "
            "openblas_threads_text",
        "tensor.blas_scipy":
            "ScipyGer blas_optdb ger ger_destructive make_ger_destructive make_scipy_blas_destructive optdb scipy_ger_inplace "
            "scipy_ger_no_inplace use_scipy_blas use_scipy_ger",
        "tensor.elemwise_cgen":
            "compute_broadcast_dimensions config make_alloc make_checks make_declare make_loop make_loop_careduce "
            "make_reordered_loop",
        "tensor.shape": "register_shape_c_code register_shape_i_c_code",
    }),
    ("an inner part of Aesara's rewriting",
     "Mode.including and Mode.excluding choose pyscan's passes; pyscan.rewriting has rewriters of graphs to write one's own.", {
        "compile": "AddFeatureOptimizer register_optimizer",
        "compile.mode": "AddFeatureOptimizer register_optimizer",
        "configdefaults": "add_optimizer_configvars",
        "graph.features": "BadOptimization",
        "graph.kanren": "KanrenRelationSub",
        "graph.opt": "config",
        "graph.optdb": "OptimizationDatabase RewriteDatabase config",
        "graph.rewriting": "",
        "graph.rewriting.basic":
            "ChangeTracker CheckStackTraceFeature CheckStackTraceRewriter DispatchingFeature MergeFeature MetaNodeRewriter "
            "MetaNodeRewriterSkip OpToRewriterTracker check_chain check_stack_trace merge_dict pre_constant_merge",
        "graph.rewriting.db": "EquilibriumDB LocalGroupDB OptimizationDatabase ProxyDB RewriteDatabase SequenceDB TopoDB config",
        "graph.rewriting.kanren": "KanrenRelationSub",
        "graph.rewriting.unify":
            "ConstrainedVar apply_Op_ExpressionTuple car_Op car_Type car_Variable cdr_Op cdr_Type cdr_Variable "
            "convert_strs_to_vars eval_if_etuple",
        "graph.rewriting.utils": "get_clients_at_depth",
        "graph.unify": "eval_if_etuple",
        "ifelse": "optdb",
        "sandbox.rng_mrg": "optdb",
        "scan.opt":
            "config constant_folding deep_copy_op local_abs_merge local_mul_switch_sink local_upcast_elemwise_constant_inputs "
            "local_useless_switch maximum minimum optdb push_out_add_scan push_out_dot1_scan push_out_non_seq_scan "
            "push_out_seq_scan remove_constants_and_unused_inputs_scan save_mem_new_scan scan_eqopt1 scan_eqopt2 "
            "scan_merge_inouts scan_seqopt1",
        "scan.rewriting":
            "ScanInplaceOptimizer ScanMerge add_nitsot_outputs config constant_folding deep_copy_op get_outer_ndim "
            "has_duplicates inner_sitsot_only_last_step_used local_abs_merge local_mul_switch_sink "
            "local_upcast_elemwise_constant_inputs local_useless_switch make_equiv maximum minimum optdb push_out_add_scan "
            "push_out_dot1_scan push_out_inner_vars push_out_non_seq_scan push_out_seq_scan "
            "remove_constants_and_unused_inputs_scan reshape_output_storage sanitize save_mem_new_scan scan_eqopt1 "
            "scan_eqopt2 scan_merge_inouts scan_seqopt1 select_max select_min",
        "tensor.basic_opt":
            "NoneConst alloc assert_op config constant_folding eq fill fuse_seqopt inplace_elemwise_optimizer "
            "local_Shape_i_ground local_Shape_of_SpecifyShape local_Unique_Alloc_lift local_Unique_BroadcastTo_lift "
            "local_Unique_Repeat_lift local_Unique_scalar local_Unique_second local_alloc_empty_to_zeros "
            "local_alloc_sink_dimshuffle local_alloc_unary local_careduce_fusion local_cast_cast local_dimshuffle_lift "
            "local_elemwise_alloc local_fill_sink local_fill_to_alloc local_join_1 local_join_empty local_join_make_vector "
            "local_merge_alloc local_merge_consecutive_specify_shape local_merge_switch_same_cond local_remove_all_assert "
            "local_remove_scalar_BroadcastTo local_remove_useless_assert local_reshape_lift local_reshape_to_dimshuffle "
            "local_scalar_tensor_scalar local_shape_to_shape_i local_tensor_scalar_tensor local_track_shape_i "
            "local_unbroadcast_lift local_upcast_elemwise_constant_inputs local_useless_alloc local_useless_composite "
            "local_useless_dimshuffle_in_reshape local_useless_dimshuffle_makevector local_useless_elemwise "
            "local_useless_fill local_useless_reshape local_useless_split local_useless_switch local_useless_topk "
            "local_useless_unbroadcast local_view_op register_useless switch tensor_copy topo_constant_folding",
        "tensor.math_opt":
            "AlgebraicCanonizer add add_canonizer alloc assert_op at_abs at_pow eq erf erfc exp expm1 fill floor_divide "
            "fuse_seqopt ge le local_0_dot_x local_1msigmoid local_abs_lift local_abs_merge local_add_canonizer "
            "local_add_neg_to_sub local_add_specialize local_div_switch_sink local_div_to_reciprocal local_elemwise_sub_zeros "
            "local_erf_minus_one local_erf_neg_minus_one local_exp_log local_exp_log_nan_switch local_exp_over_1_plus_exp "
            "local_expm1 local_fill_sink local_func_inv local_greedy_distributor local_intdiv_by_one "
            "local_lift_transpose_through_dot local_log1p local_log_add_exp local_log_erfc local_log_sum_exp "
            "local_logit_sigmoid local_mul_canonizer local_mul_specialize local_mul_switch_sink local_mul_to_sqr "
            "local_mul_zero local_neg_div_neg local_neg_to_mul local_one_minus_erf local_one_minus_erfc local_one_plus_erf "
            "local_op_of_op local_opt_alloc local_pow_canonicalize local_pow_specialize local_pow_specialize_device "
            "local_reciprocal_1_plus_exp local_reciprocal_canon local_reduce_broadcastable local_reduce_join "
            "local_sigm_times_exp local_sigmoid_logit local_sub_neg_to_add local_sum_prod_all_to_none "
            "local_sum_prod_div_dimshuffle local_sum_prod_mul_by_scalar local_sumsqr2dot local_useless_conj "
            "local_useless_elemwise_comparison local_useless_reduce local_zero_div log log1mexp log1msigm_to_softplus log1p "
            "log1p_neg_sigmoid log1pexp_to_softplus log1pmexp_to_log1mexp log_diff_exp logsigm_to_softplus maximum mul "
            "mul_canonizer neg reciprocal sgn sigmoid softplus sqrt square sub switch true_divide",
        "tensor.opt_uncanonicalize":
            "alloc local_alloc_dimshuffle local_dimshuffle_alloc local_dimshuffle_subtensor local_max_and_argmax "
            "local_max_to_min local_reshape_dimshuffle neg",
        "tensor.random.opt": "config local_dimshuffle_rv_lift local_rv_size_lift local_subtensor_rv_lift optdb random_make_inplace",
        "tensor.random.rewriting":
            "AdvancedSubtensor AdvancedSubtensor1 DimShuffle RandomVariable Shape Shape_i Subtensor as_index_variable at_sum "
            "broadcast_params broadcast_to compute_test_value config constant get_idx_list get_vector_length "
            "indexed_result_shape is_rv_used_in_graph local_dimshuffle_rv_lift local_rv_size_lift local_subtensor_rv_lift "
            "node_rewriter optdb random_make_inplace",
        "tensor.random.rewriting.basic":
            "config is_rv_used_in_graph local_dimshuffle_rv_lift local_rv_size_lift local_subtensor_rv_lift optdb "
            "random_make_inplace",
        "tensor.random.rewriting.jax": "optdb size_parameter_as_tuple",
        "tensor.rewriting": "",
        "tensor.rewriting.basic":
            "ShapeFeature alloc assert_op broadcast_like constant_folding encompasses_broadcastable eq fill "
            "import_ShapeFeature is_an_upcast local_alloc_empty_to_zeros local_alloc_sink_dimshuffle local_alloc_unary "
            "local_cast_cast local_elemwise_alloc local_fill_sink local_fill_to_alloc local_join_1 local_join_empty "
            "local_join_make_vector local_merge_alloc local_merge_switch_same_cond local_remove_all_assert "
            "local_remove_useless_assert local_scalar_tensor_scalar local_tensor_scalar_tensor local_useless_alloc "
            "local_useless_elemwise local_useless_fill local_useless_split local_useless_switch local_useless_topk "
            "local_view_op merge_broadcastables register_canonicalize register_specialize register_specialize_device "
            "register_stabilize register_uncanonicalize register_useless switch tensor_copy topo_constant_folding",
        "tensor.rewriting.elemwise":
            "FusionOptimizer InplaceElemwiseOptimizer alloc apply_local_dimshuffle_lift config elemwise_max_input_fct "
            "fuse_seqopt inplace_elemwise_optimizer is_dimshuffle_useless local_careduce_fusion local_dimshuffle_lift "
            "local_elemwise_fusion local_elemwise_fusion_op local_upcast_elemwise_constant_inputs local_useless_composite "
            "local_useless_dimshuffle_makevector",
        "tensor.rewriting.extra_ops":
            "local_Unique_Alloc_lift local_Unique_BroadcastTo_lift local_Unique_Repeat_lift local_Unique_scalar "
            "local_Unique_second local_remove_scalar_BroadcastTo",
        "tensor.rewriting.jax": "boolean_indexing_set_or_inc boolean_indexing_sum optdb shape_parameter_as_tuple",
        "tensor.rewriting.math":
            "AlgebraicCanonizer add add_calculate add_canonizer alloc assert_op at_abs at_pow attempt_distribution "
            "check_for_x_over_absX compute_mul distribute_greedy eq erf erfc exp expm1 fill fill_chain floor_divide "
            "fuse_seqopt ge get_constant is_1pexp is_exp is_inverse_pair is_mul is_neg le local_0_dot_x local_1msigmoid "
            "local_abs_lift local_abs_merge local_add_canonizer local_add_mul_fusion local_add_neg_to_sub "
            "local_add_specialize local_div_switch_sink local_div_to_reciprocal local_elemwise_sub_zeros local_erf_minus_one "
            "local_erf_neg_minus_one local_exp_log local_exp_log_nan_switch local_exp_over_1_plus_exp local_expm1 "
            "local_fill_sink local_func_inv local_greedy_distributor local_intdiv_by_one local_lift_transpose_through_dot "
            "local_log1p local_log_add_exp local_log_erfc local_log_sum_exp local_logit_sigmoid local_mul_canonizer "
            "local_mul_specialize local_mul_switch_sink local_mul_to_sqr local_mul_zero local_neg_div_neg local_neg_to_mul "
            "local_one_minus_erf local_one_minus_erfc local_one_plus_erf local_op_of_op local_opt_alloc "
            "local_pow_canonicalize local_pow_specialize local_pow_specialize_device local_reciprocal_1_plus_exp "
            "local_reciprocal_canon local_reduce_broadcastable local_reduce_join local_sigm_times_exp local_sigmoid_logit "
            "local_sub_neg_to_add local_sum_prod_all_to_none local_sum_prod_div_dimshuffle local_sum_prod_mul_by_scalar "
            "local_sumsqr2dot local_useless_conj local_useless_elemwise_comparison local_useless_reduce local_zero_div log "
            "log1mexp log1msigm_to_softplus log1p log1p_neg_sigmoid log1pexp_to_softplus log1pmexp_to_log1mexp log_diff_exp "
            "logsigm_to_softplus maximum mul mul_calculate mul_canonizer neg parse_mul_tree partition_num_or_denom "
            "perform_sigm_times_exp reciprocal replace_leaf scalarconsts_rest sgn sigmoid simplify_mul softplus sqrt square "
            "sub switch true_divide",
        "tensor.rewriting.shape":
            "NoneConst ShapeFeature ShapeOptimizer UnShapeOptimizer config local_Shape_i_ground local_Shape_of_SpecifyShape "
            "local_merge_consecutive_specify_shape local_reshape_chain local_reshape_lift local_reshape_to_dimshuffle "
            "local_shape_to_shape_i local_track_shape_i local_unbroadcast_lift local_useless_dimshuffle_in_reshape "
            "local_useless_reshape local_useless_unbroadcast topo_constant_folding",
        "tensor.rewriting.special": "exp local_logsoftmax local_mul_canonizer softmax_simplifier true_divide",
        "tensor.rewriting.subtensor":
            "add advanced_inc_subtensor1 advanced_subtensor advanced_subtensor1 alloc and_ eq ge get_advsubtensor_axis gt "
            "is_full_slice le local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1 local_IncSubtensor_serialize "
            "local_adv_sub1_adv_inc_sub1 local_incsubtensor_of_zeros local_incsubtensor_of_zeros_to_setsubtensor "
            "local_inplace_AdvancedIncSubtensor local_inplace_AdvancedIncSubtensor1 local_inplace_setsubtensor "
            "local_join_subtensors local_replace_AdvancedSubtensor local_set_to_inc_subtensor local_setsubtensor_of_constants "
            "local_subtensor_SpecifyShape_lift local_subtensor_inc_subtensor local_subtensor_lift local_subtensor_make_vector "
            "local_subtensor_merge local_subtensor_of_alloc local_subtensor_of_dot local_subtensor_remove_broadcastable_index "
            "local_subtensor_shape_constant local_uint_constant_indices local_useless_AdvancedSubtensor1 "
            "local_useless_inc_subtensor local_useless_inc_subtensor_alloc local_useless_slice local_useless_subtensor lt "
            "maximum merge_two_slices minimum or_ register_useless switch transform_take",
        "tensor.rewriting.uncanonicalize":
            "alloc local_alloc_dimshuffle local_dimshuffle_alloc local_dimshuffle_subtensor local_max_and_argmax "
            "local_max_to_min local_reshape_dimshuffle neg",
        "tensor.subtensor_opt":
            "add advanced_inc_subtensor1 advanced_subtensor advanced_subtensor1 alloc and_ eq ge get_advsubtensor_axis gt le "
            "local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1 local_IncSubtensor_serialize local_adv_sub1_adv_inc_sub1 "
            "local_incsubtensor_of_zeros local_incsubtensor_of_zeros_to_setsubtensor local_inplace_AdvancedIncSubtensor "
            "local_inplace_AdvancedIncSubtensor1 local_inplace_setsubtensor local_join_subtensors "
            "local_replace_AdvancedSubtensor local_set_to_inc_subtensor local_setsubtensor_of_constants "
            "local_subtensor_SpecifyShape_lift local_subtensor_inc_subtensor local_subtensor_lift local_subtensor_make_vector "
            "local_subtensor_merge local_subtensor_of_alloc local_subtensor_of_dot local_subtensor_remove_broadcastable_index "
            "local_subtensor_shape_constant local_uint_constant_indices local_useless_AdvancedSubtensor1 "
            "local_useless_inc_subtensor local_useless_inc_subtensor_alloc local_useless_slice local_useless_subtensor lt "
            "maximum minimum or_ switch",
    }),
    ("the machinery behind Aesara's configuration", 'pyscan.config has the flags, and change_flags changes them.', {
        "configdefaults":
            "add_basic_configvars add_caching_dir_configvars add_compile_configvars add_deprecated_configvars "
            "add_error_and_warning_configvars add_experimental_configvars add_metaopt_configvars "
            "add_multiprocessing_configvars add_numba_configvars add_scan_configvars add_tensor_configvars "
            "add_testvalue_and_checking_configvars add_traceback_configvars add_vm_configvars default_cuda_include "
            "default_dnn_base_path default_dnn_bin_path default_dnn_inc_path default_dnn_lib_path get_cuda_root "
            "short_platform",
        "configparser":
            "AesaraConfigWarning BoolParam ConfigAccessViolation ConfigParam ContextsParam DeviceParam EnumStr FloatParam "
            "IntParam StrParam TypedParam config_files_from_aesararc parse_config_string",
    }),
    ("an experiment or a tool of Aesara's own", 'pyscan.as_op makes an operation of a Python function.', {
        "misc": "",
        "misc.check_blas": "config execute jobman_job test",
        "misc.elemwise_openmp_speedup": "config runScript",
        "misc.elemwise_time_test": "ElemwiseOpTime config evalTime tanh",
        "misc.frozendict": "FrozenOrderedDict frozendict",
        "misc.latence_gpu_transfert": "f1 f2",
        "misc.may_share_memory": "may_share_memory",
        "misc.ordered_set": "Link OrderedSet check_deterministic",
        "misc.pkl_utils": "PersistentNdarrayID PersistentNdarrayLoad PersistentSharedVariableID zipadd",
        "misc.safe_asarray": "config",
        "sandbox": "",
        "sandbox.linalg": "spectral_radius_bound",
        "sandbox.linalg.ops":
            "at_pow cholesky inv_as_solve local_det_chol local_log_prod_sqr log no_transpose_symmetric psd_solve_with_chol "
            "spectral_radius_bound tag_solve_triangular transinv_to_invtrans",
        "sandbox.minimal": "Minimal lscalar minimal",
        "sandbox.multinomial": "ChoiceFromUniform MultinomialFromUniform config",
        "sandbox.rng_mrg":
            "DotModulo MRG_RandomStream bool_t config cos ff_2p134 ff_2p72 guess_n_streams int_t iscalar ivector lmatrix log "
            "matVecModM multMatVect sin sqrt",
        "sandbox.solve": "",
    }),
    ('an operation on scalars',
     'The functions of pyscan.tensor work on scalars too, and pyscan.as_op makes an operation of a Python function.', {
        "scalar":
            "AND Abs Add Angle ArcCos ArcCosh ArcSin ArcSinh ArcTan ArcTan2 ArcTanh BetaInc BetaIncDer BinaryBitOp "
            "BinaryScalarOp Ceil Chi2SF Clip Complex ComplexError ComplexFromPolar Composite Compositef32 Conj Cos Cosh "
            "Deg2Rad EQ Erf Erfc Erfcinv Erfcx Erfinv Exp Exp2 Expm1 FixedLogicalComparison Floor FloorDivide GE GT Gamma "
            "GammaInc GammaIncC GammaIncCDer GammaIncDer GammaL GammaLn GammaU Hyp2F1 Hyp2F1Der I0 I1 Identity Imag InRange "
            "IntegerDivisionError Inv Invert IsInf IsNan Iv J0 J1 Jv LE LT Log Log10 Log1mexp Log1p Log2 LogicalComparison "
            "Mean Mod Mul NEQ Neg NumpyAutocaster OR Owens_t Pow Psi Rad2Deg Real Reciprocal RoundHalfAwayFromZero "
            "RoundHalfToEven Scalar ScalarMaximum ScalarMinimum Second Sgn Sigmoid Sin Sinh Softplus Sqr Sqrt Sub Switch Tan "
            "Tanh TriGamma TrueDivide Trunc UnaryBitOp UnaryScalarOp XOR as_common_dtype autocast_float autocast_float_as "
            "autocast_int betainc betainc_der bool cast chi2sf complex128 complex64 composite_f32 "
            "convert convert_to_bool convert_to_complex128 convert_to_complex64 convert_to_float16 convert_to_float32 "
            "convert_to_float64 convert_to_int16 convert_to_int32 convert_to_int64 convert_to_int8 convert_to_uint16 "
            "convert_to_uint32 convert_to_uint64 convert_to_uint8 divide erfcinv erfcx erfinv float16 float32 float64 "
            "float_out float_out_nocomplex floor_div gammainc gammainc_der gammaincc gammaincc_der gammal gammau handle_cast "
            "handle_composite hyp2f1 hyp2f1_der i0 i1 inclosedrange inopenrange int16 int32 int64 int8 int_div int_out "
            "int_out_nocomplex inv iv j0 j1 jv mean mod_check owens_t psi real_out round_half_away_from_zero_ "
            "round_half_away_from_zero_vec same_out_float_only same_out_nocomplex specific_out sqr transfer_type tri_gamma "
            "true_div uint16 uint32 uint64 uint8 unary_out_lookup upcast_out upcast_out_min8 upcast_out_no_complex "
            "upcast_out_nobool upgrade_to_float upgrade_to_float64 upgrade_to_float_no_complex",
        "scalar.basic":
            "AND Abs Add Angle ArcCos ArcCosh ArcSin ArcSinh ArcTan ArcTan2 ArcTanh BinaryBitOp BinaryScalarOp Ceil Clip "
            "Complex ComplexError ComplexFromPolar Composite Compositef32 Conj Cos Cosh Deg2Rad EQ Exp Exp2 Expm1 "
            "FixedLogicalComparison Floor FloorDivide GE GT Identity Imag InRange IntegerDivisionError Inv Invert IsInf IsNan "
            "LE LT Log Log10 Log1p Log2 LogicalComparison Mean Mod Mul NEQ Neg NumpyAutocaster OR Pow Rad2Deg Real Reciprocal "
            "RoundHalfAwayFromZero RoundHalfToEven Scalar ScalarMaximum ScalarMinimum Second Sgn Sin Sinh Sqr Sqrt Sub Switch "
            "Tan Tanh TrueDivide Trunc UnaryBitOp UnaryScalarOp XOR all_types as_common_dtype autocast_float "
            "autocast_float_as autocast_int bool cast complex128 complex64 complex_types complexs "
            "complexs128 complexs64 composite_f32 continuous_types convert convert_to_bool convert_to_complex128 "
            "convert_to_complex64 convert_to_float16 convert_to_float32 convert_to_float64 convert_to_int16 convert_to_int32 "
            "convert_to_int64 convert_to_int8 convert_to_uint16 convert_to_uint32 convert_to_uint64 convert_to_uint8 "
            "discrete_types divide float16 float32 float64 float_out float_out_nocomplex float_types floats floor_div "
            "handle_cast handle_composite inclosedrange inopenrange int16 int32 int64 int8 int_div int_out int_out_nocomplex "
            "int_types integer_types ints inv mean mod_check pprint real_out round_half_away_from_zero_ "
            "round_half_away_from_zero_vec round_half_away_from_zero_vec32 round_half_away_from_zero_vec64 same_out "
            "same_out_float_only same_out_min8 same_out_nobool same_out_nocomplex specific_out sqr transfer_type true_div "
            "uint16 uint32 uint64 uint8 uint_types unary_out_lookup upcast_out upcast_out_min8 upcast_out_no_complex "
            "upcast_out_nobool upgrade_to_float upgrade_to_float64 upgrade_to_float_no_complex",
        "scalar.basic_scipy":
            "betainc betainc_der chi2sf config erf erfc erfcinv erfcx erfinv exp expm1 float64 gamma gammainc gammainc_der "
            "gammaincc gammaincc_der gammal gammaln gammau hyp2f1 hyp2f1_der i0 i1 isinf iv j0 j1 jv log log1mexp log1p "
            "owens_t psi sigmoid softplus switch tri_gamma true_divide",
        "scalar.basic_sympy": "SymPyCCode aesara_dtype float32 float64 include_line int64 sympy_dtype",
        "scalar.math":
            "BetaInc BetaIncDer Chi2SF Erf Erfc Erfcinv Erfcx Erfinv Gamma GammaInc GammaIncC GammaIncCDer GammaIncDer GammaL "
            "GammaLn GammaU Hyp2F1 Hyp2F1Der I0 I1 Iv J0 J1 Jv Log1mexp Owens_t Psi Sigmoid Softplus TriGamma betainc "
            "betainc_der chi2sf erfcinv erfcx erfinv float64 gammainc gammainc_der gammaincc gammaincc_der gammal gammau "
            "hyp2f1 hyp2f1_der i0 i1 iv j0 j1 jv owens_t psi tri_gamma",
        "scalar.sharedvar": "ScalarSharedVariable shared",
    }),
    ('a part of the random variables',
     'pyscan.tensor.random.RandomStream has the distributions that are there, and pyscan._core.dists() lists them.', {
        "tensor.random.basic": "safe_multivariate_normal ",
        "tensor.random.type": "T",
        "tensor.random.var": "RNGTypeType randomgen_constructor",
    }),
    ('an operation on tensors', 'pyscan.as_op makes an operation of a Python function.', {
        "tensor":
            "TensorLike bartlett convolve default fill_diagonal_offset "
            "hyp2f1_der load permute_row_elements transfer values_eq_approx_always_true",
        "tensor.basic":
            "Default MakeVectorPrinter PermuteRowElements _convert_to_complex128 "
            "_convert_to_complex64 _convert_to_float32 _convert_to_float64 _convert_to_int16 _convert_to_int32 "
            "_convert_to_int64 _convert_to_int8 assert_op config default int32 join_ make_vector permute_row_elements pprint "
            "register_transfer transfer",
        "tensor.elemwise": "DimShufflePrinter config lvector pprint scalar_bool scalar_elemwise scalar_identity",
        "tensor.exceptions": "ShapeError",
        "tensor.extra_ops":
            "Bartlett CpuContiguous CumprodOp CumsumOp FillDiagonal FillDiagonalOffset RavelMultiIndex UnravelIndex "
            "advanced_inc_subtensor1 at_abs bartlett bartlett_ broadcast_to_ cpu_contiguous dvector fill_diagonal_ "
            "fill_diagonal_offset fill_diagonal_offset_ int_t",
        "tensor.inplace":
            "abs_inplace add_inplace and__inplace arccos_inplace arccosh_inplace arcsin_inplace arcsinh_inplace "
            "arctan2_inplace arctan_inplace arctanh_inplace betainc_inplace ceil_inplace chi2sf_inplace conj_inplace "
            "cos_inplace cosh_inplace deg2rad_inplace eq_inplace erf_inplace erfc_inplace erfcx_inplace exp2_inplace "
            "exp_inplace expm1_inplace fill_inplace floor_divide_inplace floor_inplace gamma_inplace gammainc_inplace "
            "gammaincc_inplace gammal_inplace gammaln_inplace gammau_inplace ge_inplace gt_inplace hyp2f1_inplace i0_inplace "
            "i1_inplace invert_inplace iv_inplace j0_inplace j1_inplace jv_inplace le_inplace log10_inplace log1mexp_inplace "
            "log1p_inplace log2_inplace log_inplace lt_inplace maximum_inplace minimum_inplace mod_inplace mul_inplace "
            "neg_inplace neq_inplace or__inplace owens_t_inplace pow_inplace pprint psi_inplace rad2deg_inplace "
            "reciprocal_inplace round_half_away_from_zero_inplace round_half_to_even_inplace second_inplace sgn_inplace "
            "sigmoid_inplace sin_inplace sinh_inplace softplus_inplace sqr_inplace sqrt_inplace sub_inplace tan_inplace "
            "tanh_inplace transpose_inplace tri_gamma_inplace true_divide_inplace trunc_inplace xor_inplace",
        "tensor.io":
            "LoadFromDisk MPIRecv MPIRecvWait MPISend MPISendWait irecv isend load mpi_cmps mpi_enabled mpi_send_wait_cmp "
            "mpi_send_wait_key mpi_tag_key recv send",
        "tensor.math":
            "Argmax Convolve Max Mean Min MulWithoutZeros NonZeroCAReduce NoneConst ProdWithoutZeros _conj _dot alloc "
            "check_and_normalize_axes config convolve hyp2f1_der isinf_ isnan_ mod_check mul_without_zeros "
            "pprint",
        "tensor.nlinalg": "TensorInv TensorSolve dvector lscalar",
        "tensor.shape": "_shape _specify_shape int32 shape_i_op",
        "tensor.sharedvar": "load_shared_variable",
        "tensor.slinalg":
            "BilinearSolveDiscreteLyapunov CholeskySolve Eigvalsh Expm SolveContinuousLyapunov",
        "tensor.sort": "TopKOp eq ge mul switch",
        "tensor.special": "LogSoftmax Softmax neg",
        "tensor.subtensor":
            "IncSubtensorPrinter SubtensorPrinter advanced_inc_subtensor advanced_inc_subtensor1 advanced_inc_subtensor_nodup "
            "advanced_set_subtensor advanced_set_subtensor1 advanced_set_subtensor_nodup alloc as_index_constant "
            "as_index_literal as_index_variable as_nontensor_scalar basic_shape bscalar check_advanced_indexing_dimensions "
            "clip config cscalar dscalar fscalar get_canonical_form_slice get_constant_idx get_idx_list get_slice_elements "
            "group_indices index_vars_to_types indexed_result_shape indices_from_subtensor is_basic_idx iscalar lscalar "
            "pprint range_len slice_len ubscalar uiscalar ulscalar uwscalar wscalar zscalar",
        "tensor.type":
            "DenseTensorType DenseTypeMeta complex_matrix_types complex_scalar_types complex_types complex_vector_types "
            "config float_matrix_types float_scalar_types float_types float_vector_types int_matrix_types int_scalar_types "
            "int_types int_vector_types ubscalar uiscalar ulscalar uwscalar values_eq_approx values_eq_approx_always_true "
            "values_eq_approx_remove_inf values_eq_approx_remove_inf_nan values_eq_approx_remove_nan",
        "tensor.type_other": "as_int_none_variable as_symbolic_None as_symbolic_slice",
        "tensor.utils": "hash_from_ndarray shape_of_variables",
        "tensor.var":
            "DenseConstantMeta DenseTensorConstant DenseTensorVariable DenseVariableMeta NoneConst TensorConstantSignature "
            "config get_unique_value",
        "tensor.xlogx": "XlogX XlogY0 scalar_xlogx scalar_xlogy0 xlogx xlogy0",
    }),
    ("an inner part of Aesara's scan", 'pyscan.scan and pyscan.scan_op.Scan are what is public.', {
        "scan.basic": "config get_updates_and_outputs isNaN_or_Inf_or_None minimum",
        "scan.checkpoints": "ceil eq",
        "scan.op": "ScanMethodsMixin check_broadcast config copy_var_format minimum",
        "scan.utils":
            "FieldInfo InnerFunctionError ScanArgs Validator compress_outs config default_filter_scanargs expand_empty "
            "forced_replace reconstruct_graph safe_index safe_new scan_can_remove_outs traverse",
    }),
    ('a part of printing', 'pyscan.dprint, pyscan.pp and pyscan.printing.min_informative_str print graphs.', {
        "printing": "config op_debug_information position_independent_str set_precedence var_descriptor",
    }),
    ("a part of Aesara's compilation", 'pyscan.function compiles, and f.maker.fgraph is the graph that runs.', {
        "compile":
            "AddDestroyHandler AliasedMemoryError FAST_COMPILE FAST_RUN JAX NUMBA OPT_FAST_COMPILE OPT_FAST_RUN "
            "OPT_FAST_RUN_STABLE OPT_MERGE OPT_NONE OPT_O2 OPT_O3 OPT_STABILIZE OPT_UNSAFE PrintCurrentFunctionGraph "
            "alias_root convert_function_input fgraph_updated_vars get_info_on_inputs infer_reuse_pattern insert_deepcopy "
            "local_useless std_fgraph view_tree_set",
                "compile.function.pfunc": "construct_pfunc_ins_and_outs iter_over_pairs",
        "compile.function.types":
            "AliasedMemoryError alias_root convert_function_input deep_copy_op fgraph_updated_vars get_info_on_inputs "
            "infer_reuse_pattern insert_deepcopy std_fgraph view_op view_tree_set",
        "compile.mode":
            "AddDestroyHandler FAST_COMPILE FAST_RUN JAX NUMBA OPT_FAST_COMPILE OPT_FAST_RUN OPT_FAST_RUN_STABLE OPT_MERGE "
            "OPT_NONE OPT_O2 OPT_O3 OPT_STABILIZE OPT_UNSAFE PrintCurrentFunctionGraph get_target_language local_useless",
        "compile.ops": "OutputGuard",
    }),
    ('a helper for graphs', 'pyscan.graph has the graph objects and the walkers.', {
        "graph.basic": "Node OpType OptionalApplyType clone_node_and_cache config general_toposort io_connection_pattern",
        "graph.destroyhandler": "ProtocolError config",
        "graph.features": "LambdaExtract config",
        "graph.fg": "config",
        "graph.op": "ThunkType config get_test_values is_thunk_type missing_test_message",
        "graph.sched":
            "_toposort key_to_cmp make_dependence_cmp make_depends memodict posort reverse_dict sort_apply_nodes "
            "sort_schedule_fn",
        "graph.type": "HasDataType HasShape",
        "graph.utils":
            "AssocList MetaObject MetaType ValidatingScratchpad add_tag_trace get_variable_trace_string simple_extract_stack "
            "toposort",
    }),
    ("a helper of Aesara's", 'pyscan.graph and pyscan.tensor have what is public.', {
        "": "disable_log_handler",
        "breakpoint": "PdbBreakpoint",
        "ifelse":
            "CondMerge cond_make_inplace cond_merge_ifs_false cond_merge_ifs_true cond_merge_random_op cond_remove_identical "
            "config ifelse_lift_single_if_through_acceptable_ops",
        "raise_op": "ExceptionType exception_type",
        "utils":
            "DefaultOrderedDict LOCAL_BITWIDTH NoDuplicateOptWarningFilter PYTHON_INT_BITWIDTH Singleton add_excepthook "
            "apply_across_args call_subprocess_Popen cmp deprecated difference exc_message flatten from_return_values "
            "get_unbound_function hash_from_code maybe_add_to_os_environ_pathlist memoize output_subprocess_Popen "
            "subprocess_Popen to_return_values uniq",
    }),
)
