/** A model with methods of ours. Its own ones are called on it itself: they may need what is private in it. */
export function replaced<Model extends object>(model: Model, methods: Record<string | symbol, unknown>): Model {
  return new Proxy(model, {
    get(inner, name) {
      const member = Object.hasOwn(methods, name) ? methods[name] : Reflect.get(inner, name, inner);
      return typeof member === "function" ? member.bind(inner) : member;
    },
  });
}
