/**
 * Finds circles of objects: a constructor that gives an object it creates a function over a field of `this`, or a
 * variable, that is not assigned yet. Two objects that need each other hide a third thing that both need, or an event that one of them should
 * only tell. Give them that one, or pass the other object when the first is used.
 */

/** Returns the name of a field of `this`, such as `#store`. */
function fieldOf(node) {
  if (node?.type !== "MemberExpression" || node.object.type !== "ThisExpression" || node.computed)
    return undefined;
  return node.property.type === "PrivateIdentifier" ? `#${node.property.name}` : node.property.name;
}

/** Returns the innermost constructor around a node, and the outermost function between them. */
function aroundOf(node) {
  let given;
  for (let one = node.parent; one; one = one.parent) {
    if (one.type === "FunctionExpression" && one.parent?.kind === "constructor") return { given, of: one };
    if (/Function|Class/.test(one.type)) {
      if (one.type !== "ArrowFunctionExpression") return {};
      given = one;
    }
  }
  return {};
}

/** Whether a function is an argument of a call, a property of such an argument, or a variable that becomes one. */
function isGiven(node) {
  for (let one = node; one.parent; one = one.parent) {
    const { type } = one.parent;
    if (type === "VariableDeclarator") return one !== node || one.parent.init === node;
    if (type === "NewExpression" || type === "CallExpression") return one.parent.arguments.includes(one);
    if (type !== "Property" && type !== "ObjectExpression" && type !== "SpreadElement") return false;
  }
  return false;
}

export const circles = {
  meta: { type: "problem", docs: { description: "Objects are created in one order." }, schema: [] },
  create(context) {
    /** Of each constructor: where fields are assigned, and the functions that use them. */
    const seen = new Map();
    return {
      MemberExpression(node) {
        const field = fieldOf(node);
        if (field === undefined) return;
        const { given, of } = aroundOf(node);
        if (of === undefined) return;
        const { assigned, uses } = seen.get(of) ?? { assigned: new Map(), uses: [] };
        seen.set(of, { assigned, uses });
        const isTarget = node.parent.type === "AssignmentExpression" && node.parent.left === node;
        if (isTarget && given === undefined && !assigned.has(field))
          assigned.set(field, node.parent.range[1]);
        if (!isTarget && given !== undefined && isGiven(given)) uses.push({ field, given, node });
      },
      VariableDeclarator(node) {
        const { given, of } = aroundOf(node);
        if (given !== undefined || node.parent.parent !== of?.body || node.id.type !== "Identifier") return;
        const { assigned, uses } = seen.get(of) ?? { assigned: new Map(), uses: [] };
        seen.set(of, { assigned, uses });
        assigned.set(`variable ${node.id.name}`, node.range[1]);
      },
      Identifier(node) {
        const { parent } = node;
        const isName = parent.type === "Property" && parent.key === node && !parent.shorthand;
        if (isName || (parent.type === "MemberExpression" && parent.property === node)) return;
        const { given, of } = aroundOf(node);
        if (given === undefined || of === undefined || !isGiven(given)) return;
        const { assigned, uses } = seen.get(of) ?? { assigned: new Map(), uses: [] };
        seen.set(of, { assigned, uses });
        uses.push({ field: `variable ${node.name}`, given, node });
      },
      "Program:exit"() {
        for (const { assigned, uses } of seen.values())
          for (const { field, given, node } of uses)
            if ((assigned.get(field) ?? -1) > given.range[0])
              context.report({
                node,
                message: `${field.replace("variable ", "")} does not exist yet. Objects are created in one order (scripts/lint/circles.js).`,
              });
      },
    };
  },
};
