/** Texts that arrive. */

import { Kept, Op, run, type Text } from "./engine.js";
import { Growing } from "./growing.js";
import { Mended, textOf, type Outcome } from "./results.js";
import type { MendingOptions } from "./texts.js";

/**
 * Mends a text while it arrives: `feed` each chunk, then `close`. How the text is divided into chunks changes nothing, and
 * what `feed` returned is never taken back.
 *
 * ```js
 * const mender = new Mender();
 * mender.feed("{'city': 'Os");   // '{"city": "Os'
 * mender.snapshot();             // { city: "Os" }
 * mender.feed("lo'}");           // 'lo"}'
 * mender.close().value;          // { city: "Oslo" }
 * ```
 */
export class Mender {
  #kept: Kept;
  #growing = new Growing();
  #closed: Mended | undefined;
  #completion: string | undefined;
  #outcome: Outcome | undefined;
  #surrogate = "";

  constructor(options: MendingOptions = {}) {
    this.#kept = new Kept(run(Op.Mender, 0, options, undefined).json);
  }

  /** Reads a chunk, and returns the mended text that is certain now. */
  feed(chunk: Text): string {
    if (this.#closed !== undefined) throw new Error("the mender was closed");
    const { json, text } = this.#kept.run(Op.Feed, undefined, this.#whole(chunk));
    this.#completion = json[0] ?? undefined;
    this.#outcome = json[1] ?? undefined;
    return text ?? "";
  }

  /** Half of a surrogate pair at the end of a chunk waits for the other half. */
  #whole(chunk: Text): Text {
    if (typeof chunk !== "string") return chunk;
    const whole = this.#surrogate + chunk;
    const half = /[\uD800-\uDBFF]$/.exec(whole)?.[0] ?? "";
    this.#surrogate = half;
    return half === "" ? whole : whole.slice(0, -1);
  }

  /** Ends the text, and returns the result: the same one when it is called again. */
  close(): Mended {
    if (this.#closed !== undefined) return this.#closed;
    if (this.#surrogate !== "") this.#kept.run(Op.Feed, undefined, this.#surrogate);
    const { json, text } = this.#kept.run(Op.Close);
    const count = this.#growing.closed.size;
    this.#changes();
    if (json.outcome !== "unchanged" && json.outcome !== "repaired") this.#growing.cutSince(count);
    this.#outcome = json.outcome;
    this.#completion = undefined;
    this.#closed = new Mended(json, textOf(json, undefined, text));
    this.#kept.drop();
    return this.#closed;
  }

  #changes(): void {
    if (this.#kept.isOpen) this.#growing.apply(this.#kept.run(Op.Changes).json);
  }

  /**
   * The value so far: what is open in it is shown as far as it has arrived. `undefined` before the value begins. A later
   * snapshot never contradicts it, and never changes it. It costs what has changed, and a copy of what is open.
   */
  snapshot(): any {
    this.#changes();
    return this.#growing.value;
  }

  /** The paths of what has ended, such as `$.rows[0]`, and not only because the text was cut off. */
  get closed(): ReadonlySet<string> {
    this.#changes();
    return this.#growing.closed;
  }

  /** What would make the text that was returned so far valid JSON. `undefined` where there is nothing to complete. */
  get completion(): string | undefined {
    return this.#completion;
  }

  /** How it ended, once nothing that follows can change it. */
  get outcome(): Outcome | undefined {
    return this.#outcome;
  }
}

/**
 * Mends the text that passes: `stream.pipeThrough(new MendTransform())`. Text or bytes go in, and text comes out. `mended`
 * is the result, once all has passed.
 */
export class MendTransform extends TransformStream<Text, string> {
  #mended: { result: Mended | undefined };

  constructor(options: MendingOptions = {}) {
    const mender = new Mender(options);
    const mended: { result: Mended | undefined } = { result: undefined };
    let sent = 0;
    super({
      transform(chunk, controller) {
        const text = mender.feed(chunk);
        sent += text.length;
        if (text !== "") controller.enqueue(text);
      },
      flush(controller) {
        mended.result = mender.close();
        const rest = mended.result.text?.slice(sent) ?? "";
        if (rest !== "") controller.enqueue(rest);
      },
    });
    this.#mended = mended;
  }

  /** The result, once all has passed. */
  get mended(): Mended | undefined {
    return this.#mended.result;
  }
}
