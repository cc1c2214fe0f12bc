/**
 * Finds forwarding closures: a function in an object literal whose body only passes its arguments on. Each one ties two
 * parts by hand that a named interface could tie. An oxlint plugin in plain JavaScript, because any Node may start
 * oxlint; `npm run closures` counts what it finds.
 */

/** Whether the arguments of a call are exactly the parameters of the function around it. */
function passesOn(parameters, call) {
  if (call.arguments.length !== parameters.length) return false;
  return parameters.every((parameter, index) => {
    const argument = call.arguments[index];
    if (parameter.type === "RestElement")
      return argument.type === "SpreadElement" && argument.argument.name === parameter.argument.name;
    return (
      parameter.type === "Identifier" && argument.type === "Identifier" && argument.name === parameter.name
    );
  });
}

/** Returns the call that is all that a function does. */
function onlyCall({ body }) {
  let found = body.type === "BlockStatement" && body.body.length === 1 ? body.body[0] : body;
  if (found.type === "ReturnStatement") found = found.argument;
  if (found?.type === "ExpressionStatement") found = found.expression;
  while (
    found?.type === "AwaitExpression" ||
    (found?.type === "UnaryExpression" && found.operator === "void")
  )
    found = found.argument;
  if (found?.type === "ChainExpression") found = found.expression;
  return found?.type === "CallExpression" ? found : undefined;
}

const rule = {
  meta: { type: "suggestion", docs: { description: "Functions pass on what they are given." }, schema: [] },
  create(context) {
    return {
      Property(node) {
        const { value } = node;
        if (node.parent.type !== "ObjectExpression" || !/Function/.test(value.type)) return;
        const call = onlyCall(value);
        if (call !== undefined && passesOn(value.params, call))
          context.report({ node, message: "This function only passes its arguments on." });
      },
    };
  },
};

export default { meta: { name: "forwarding" }, rules: { closure: rule } };
