/** Lets the demo model of the bot run its tools by hand (`/call`). No other bot has this mark. */
Reflect.set(globalThis, Symbol.for("switchboard.dev"), true);
