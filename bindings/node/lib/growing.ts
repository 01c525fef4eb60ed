/** Values that grow. */

import { Kept, Op, run } from "./engine.js";

interface Level {
  value: any[] | Record<string, any>;
  /** The key or index of the value that is open in it. */
  at: string | number;
  /** Whether a snapshot holds it, so that it must not change any more. */
  held: boolean;
}

/**
 * A value, changed as the module says. Changes happen at its end, so what is open is a stack. A snapshot holds the value
 * as it is: the containers that are open are copied before they change again, and what is closed is shared.
 */
export class Growing {
  #root: any;
  #begun = false;
  #open: Level[] = [];
  #string: string | undefined;
  /** The paths of what has ended, such as `$.rows[0]`. */
  readonly closed = new Set<string>();
  /** Called for each value that is whole, with the keys and indices that lead to it, and its path. */
  onWhole: ((steps: readonly (string | number)[], path: string, value: any) => void) | undefined;

  /** Makes changes: see `Changes` in `src/growing.rs`. Says whether there were any. */
  apply(changes: readonly any[]): boolean {
    for (let next = 0; next < changes.length; ) {
      const change: number = changes[next++];
      switch (change) {
        case 1:
          this.#add(changes[next++], []);
          break;
        case 2:
          this.#add(changes[next++], {});
          break;
        case 3:
          this.#add(changes[next++], "");
          this.#string = "";
          break;
        case 4:
          this.#string += changes[next++];
          this.#put(this.#string);
          break;
        case 5:
          if (this.#string !== undefined) {
            const whole = this.#string;
            this.#string = undefined;
            this.#whole(whole);
          } else {
            this.#whole(this.#open.pop()?.value);
          }
          break;
        default: {
          const key = changes[next++];
          const value = changes[next++];
          const scalar = typeof value === "string" ? Number(value) : value;
          this.#add(key, scalar);
          this.#whole(scalar);
        }
      }
    }
    return changes.length > 0;
  }

  /** The value so far, as an object of its own. `undefined` before it begins. */
  get value(): any {
    for (const level of this.#open) level.held = true;
    return this.#root;
  }

  /** What has closed since there were so many paths did not end: the value was cut off in it. */
  cutSince(count: number): void {
    for (const path of [...this.closed].slice(count)) this.closed.delete(path);
  }

  get hasBegun(): boolean {
    return this.#begun;
  }

  #add(key: string | null, value: any): void {
    const level = this.#open.at(-1);
    this.#begun = true;
    if (level !== undefined) level.at = key ?? (level.value as any[]).length;
    this.#put(value);
    if (typeof value === "object" && value !== null) this.#open.push({ value, at: "", held: false });
  }

  /** Puts a value at its place, and copies what a snapshot holds. */
  #put(value: any): void {
    for (let depth = this.#open.length - 1; depth >= 0; depth--) {
      const level = this.#open[depth]!;
      const copy = level.held;
      if (copy) {
        level.value = Array.isArray(level.value) ? level.value.slice() : { ...level.value };
        level.held = false;
      }
      set(level.value, level.at, value);
      if (!copy) return;
      value = level.value;
    }
    this.#root = value;
  }

  #whole(value: any): void {
    const steps = this.#open.map((level) => level.at);
    const path = steps.reduce<string>((path, step) => path + stepOf(step), "$");
    this.closed.add(path);
    this.onWhole?.(steps, path, value);
  }
}

function set(container: any, key: string | number, value: any): void {
  if (key === "__proto__") {
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    container[key] = value;
  }
}

/** A step of a path, as the module writes it. */
export function stepOf(step: string | number): string {
  if (typeof step === "number") return `[${step}]`;
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

/** Mended text in, a value that grows out. */
export class Grown extends Growing {
  #kept = new Kept(run(Op.Growing, 0, undefined, undefined).json);

  feed(json: string): boolean {
    return json !== "" && this.apply(this.#kept.run(Op.Feed, undefined, json).json);
  }

  drop(): void {
    this.#kept.drop();
  }
}
