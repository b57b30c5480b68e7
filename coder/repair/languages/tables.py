"""The languages."""

from __future__ import annotations

from dataclasses import replace

from coder.repair.languages.grammar import Grammar

JAVASCRIPT = Grammar(
    name="javascript",
    module="tree_sitter_javascript",
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    functions="function_declaration generator_function_declaration function_expression generator_function "
    "arrow_function method_definition",
    blocks="program statement_block switch_case switch_default class_static_block",
    statements="expression_statement lexical_declaration variable_declaration throw_statement try_statement "
    "switch_statement class_declaration export_statement import_statement",
    creations="new_expression",
    members="member_expression",
    indexes="subscript_expression",
    ternaries="ternary_expression",
    fields="property_identifier private_property_identifier",
    numbers="number",
    strings="string",
    others="template_string null undefined this super object regex await_expression yield_expression "
    "sequence_expression class jsx_element jsx_self_closing_element",
    collections="array",
    assignments="assignment_expression augmented_assignment_expression",
    loops="for_statement for_in_statement while_statement do_statement",
    leaves="break_statement continue_statement throw_statement",
    bindings="""
        variable_declarator.name for_in_statement.left catch_clause.parameter function_declaration.name
        generator_function_declaration.name class_declaration.name import_clause import_specifier.alias
        import_specifier.name namespace_import formal_parameters arrow_function.parameter
    """,
    hoisted="variable_declaration",
    conditions="({})",
    nothing="null",
    dynamic=True,
    truthy=True,
    arithmetic=("+", "-", "*", "/", "%", "**"),
    comparisons=("===", "!==", "==", "!=", "<", "<=", ">", ">="),
    end="",
    wraps="""
        Math.abs({}); Math.floor({}); Math.ceil({}); Math.round({}); Math.trunc({}); Math.sqrt({}); Number({});
        String({}); parseInt({}); parseFloat({}); Boolean({}); [...{}]; Array.from({}); Object.keys({});
        Object.values({}); new Set({}); [{}]; await {}; JSON.stringify({}); Math.pow({}, 2)
    """,
    suffixed="""
        .toLowerCase(); .toUpperCase(); .trim(); .length; .toString(); .reverse(); .slice(); .sort(); .size;
        .join(''); .split(''); .length - 1; .flat(); .filter(Boolean); .concat(); .slice(1); .slice(0, -1);
        .slice(-1); .sort((a, b) => a - b); .toFixed(2)
    """,
    kin="""
        min max; floor ceil round trunc; push unshift concat; pop shift; indexOf lastIndexOf findIndex; some every;
        filter map find flatMap; toLowerCase toUpperCase; startsWith endsWith includes;
        slice splice substring substr; keys values entries; add delete has; has get; set get; parseInt parseFloat;
        padStart padEnd; reduce reduceRight; trimStart trimEnd trim; isInteger isFinite isNaN; length size;
        charCodeAt codePointAt charAt at; replace replaceAll; sin cos; log log2 log10; sort reverse; forEach map;
        then catch finally; sqrt cbrt; all any race allSettled
    """,
)

_TYPED = replace(
    JAVASCRIPT,
    module="tree_sitter_typescript",
    others=JAVASCRIPT.others + " as_expression satisfies_expression non_null_expression",
    bindings=JAVASCRIPT.bindings + " required_parameter.pattern optional_parameter.pattern",
)
TYPESCRIPT = replace(_TYPED, name="typescript", suffixes=(".ts", ".mts", ".cts"), entry="language_typescript")
TSX = replace(_TYPED, name="tsx", suffixes=(".tsx",), entry="language_tsx")

GO = Grammar(
    name="go",
    module="tree_sitter_go",
    suffixes=(".go",),
    functions="function_declaration method_declaration func_literal",
    blocks="source_file statement_list",
    statements="short_var_declaration inc_statement dec_statement expression_statement "
    "var_declaration const_declaration go_statement defer_statement send_statement "
    "expression_switch_statement",
    update="",
    members="selector_expression",
    indexes="index_expression",
    fields="field_identifier",
    numbers="int_literal float_literal",
    strings="interpreted_string_literal raw_string_literal",
    others="nil rune_literal slice_expression type_conversion_expression type_assertion_expression iota",
    collections="composite_literal",
    assignments="assignment_statement",
    loops="for_statement",
    bindings="""
        short_var_declaration.left parameter_declaration.name var_spec.name const_spec.name range_clause.left
        function_declaration.name variadic_parameter_declaration.name
    """,
    nothing="nil",
    end="",
    wraps="""
        len({}); int({}); string({}); float64({}); []byte({}); math.Abs({})
    """,
    suffixed="""
        .Error(); .String(); [0]; [1:]
    """,
    kin="""
        Min Max; Floor Ceil Round Trunc; ToLower ToUpper; HasPrefix HasSuffix Contains; TrimLeft TrimRight;
        Index LastIndex; Lock Unlock RLock RUnlock; Before After; len cap; Println Printf Print;
        Sprintf Sprint Sprintln
    """,
)

RUST = Grammar(
    name="rust",
    module="tree_sitter_rust",
    suffixes=(".rs",),
    functions="function_item closure_expression",
    blocks="source_file block declaration_list",
    statements="expression_statement let_declaration",
    update="",
    members="field_expression",
    indexes="index_expression",
    fields="field_identifier",
    numbers="integer_literal float_literal",
    strings="string_literal raw_string_literal",
    booleans="boolean_literal",
    others="char_literal reference_expression type_cast_expression try_expression macro_invocation self "
    "match_expression struct_expression tuple_expression range_expression scoped_identifier",
    collections="array_expression",
    assignments="assignment_expression compound_assignment_expr",
    ifs="if_expression",
    loops="for_expression while_expression loop_expression",
    returns="return_expression",
    leaves="break_expression continue_expression",
    bindings="""
        let_declaration.pattern parameter.pattern closure_parameters for_expression.pattern const_item.name
        static_item.name function_item.name match_pattern let_condition.pattern
    """,
    steps=("{} += 1", "{} -= 1"),
    wraps="""
        Some({}); Ok({}); ({}).abs(); &{}; *{}; {} as usize; {} as i64
    """,
    suffixed="""
        .len(); .clone(); .abs(); .unwrap(); .iter(); .to_string(); .is_empty(); .trim(); .rev(); 
         ?
    """,
    kin="""
        min max; floor ceil round trunc; to_lowercase to_uppercase; starts_with ends_with contains; any all;
        push push_back push_front; pop pop_back pop_front; first last; is_some is_none; is_ok is_err;
        filter map filter_map; find position; iter iter_mut into_iter; keys values; sum product;
        checked_add checked_sub wrapping_add wrapping_sub saturating_add saturating_sub; Some None; Ok Err;
        insert remove; find rfind; trim_start trim_end
    """,
)

JAVA = Grammar(
    name="java",
    module="tree_sitter_java",
    suffixes=(".java",),
    functions="method_declaration constructor_declaration lambda_expression",
    blocks="program block constructor_body switch_block_statement_group",
    statements="expression_statement local_variable_declaration throw_statement try_statement switch_expression "
    "field_declaration",
    calls="method_invocation",
    creations="object_creation_expression",
    members="field_access",
    indexes="array_access",
    ternaries="ternary_expression",
    numbers="decimal_integer_literal decimal_floating_point_literal hex_integer_literal",
    strings="string_literal",
    others="null_literal character_literal cast_expression this instanceof_expression array_creation_expression",
    collections="array_initializer",
    loops="for_statement enhanced_for_statement while_statement do_statement",
    leaves="break_statement continue_statement throw_statement",
    bindings="""
        variable_declarator.name formal_parameter.name enhanced_for_statement.name catch_formal_parameter.name
        lambda_expression.parameters spread_parameter
    """,
    conditions="({})",
    nothing="null",
    wraps="""
        Math.abs({}); Math.floor({}); String.valueOf({}); (int) ({}); (double) ({}); (long) ({})
    """,
    suffixed="""
        .length; .length(); .size(); .trim(); .toLowerCase(); .toUpperCase(); .toString(); .isEmpty(); .get()
    """,
    kin="""
        min max; floor ceil round; toLowerCase toUpperCase; startsWith endsWith contains; add remove;
        indexOf lastIndexOf; get put containsKey; isEmpty isPresent; keySet values entrySet; length size;
        addFirst addLast; getFirst getLast; pollFirst pollLast; peek poll pop; anyMatch allMatch noneMatch;
        equals equalsIgnoreCase compareTo; charAt codePointAt; append insert
    """,
)

C = Grammar(
    name="c",
    module="tree_sitter_cpp",
    suffixes=(".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh"),
    functions="function_definition lambda_expression",
    blocks="translation_unit compound_statement case_statement declaration_list",
    statements="expression_statement declaration switch_statement throw_statement try_statement",
    members="field_expression",
    indexes="subscript_expression",
    ternaries="conditional_expression",
    fields="field_identifier",
    numbers="number_literal",
    strings="string_literal",
    others="null char_literal pointer_expression cast_expression sizeof_expression this qualified_identifier "
    "new_expression nullptr",
    collections="initializer_list",
    loops="for_statement for_range_loop while_statement do_statement",
    leaves="break_statement continue_statement throw_statement goto_statement",
    bindings="""
        init_declarator.declarator declaration.declarator parameter_declaration.declarator for_range_loop.declarator
        function_declarator.declarator
    """,
    conditions="({})",
    nothing="NULL",
    truthy=True,
    wraps="""
        abs({}); strlen({}); sizeof({}); *{}; &{}; (int) ({}); (double) ({})
    """,
    kin="""
        strcmp strncmp; strcpy strncpy; malloc calloc; tolower toupper; isalpha isdigit isalnum isspace;
        memcpy memmove; floor ceil round; fmin fmax; min max; strchr strrchr; begin end; push_back pop_back;
        front back
    """,
)

LANGUAGES = (JAVASCRIPT, TYPESCRIPT, TSX, GO, RUST, JAVA, C)
BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
