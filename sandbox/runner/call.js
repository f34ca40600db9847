// Calls functions of a solution, from within the sandbox: `node call.js MAINFILE FD`.
//
// The protocol is that of call.py, and values are the typed JSON of values.py. Null and undefined
// are null; a number is a float with a special name where JSON has none; BigInt is `int`; Map is
// `dict`, Set is `set`, typed arrays are lists. A promise is awaited. Objects of a class of the
// solution become handles. What it answers is data that the solution may have chosen.
"use strict";

const fs = require("fs");
const path = require("path");
const vm = require("vm");
const { createRequire } = require("module");

const MAX_DEPTH = 200, MAX_BYTES = 1024 * 1024, MAX_MESSAGE = 1000, MAX_HANDLES = 1000;
const MAX_PLAIN = 2n ** 53n - 1n;
const mainFile = path.resolve(process.argv[2]);
const descriptor = Number(process.argv[3]);

// Taken hold of before the solution is loaded.
const { stringify, parse } = JSON;
const { isArray } = Array;
const { is, keys, getPrototypeOf, getOwnPropertyNames, fromEntries } = Object;
const { isInteger, isSafeInteger } = Number;
const { readSync, writeSync, readFileSync } = fs;
const mapEntries = Map.prototype.entries, setValues = Set.prototype.values;
const isTypedArray = ArrayBuffer.isView;
const exit = process.exit.bind(process);
const { isMap, isSet, isPromise } = require("util").types;
const plainPrototypes = [Object.prototype, null];
const decoder = new TextDecoder();

class Refused extends Error {}

const objects = [];
let left = 0;

function spend(size) {
  left -= size;
  if (left < 0) throw new Refused(`the value is larger than ${MAX_BYTES} bytes`);
}

function encodeNumber(value) {
  spend(20);
  if (is(value, -0)) return { $: "float", v: "-0.0" };
  if (value !== value) return { $: "float", v: "nan" };
  if (value === Infinity) return { $: "float", v: "inf" };
  if (value === -Infinity) return { $: "float", v: "-inf" };
  return value;
}

function encodeBigInt(value) {
  const digits = (value < 0n ? -value : value).toString(16);
  spend(digits.length + 20);
  if (value <= MAX_PLAIN && value >= -MAX_PLAIN) return Number(value);
  return { $: "int", v: (value < 0n ? "-0x" : "0x") + digits };
}

function encodeString(value) {
  spend(value.length + 3);
  if (!/[\ud800-\udfff]/.test(value) || !hasLoneSurrogate(value)) return value;
  return { $: "str", v: surrogatePass(value).toString("base64") };
}

function hasLoneSurrogate(value) {
  return /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value);
}

// UTF-8 with lone surrogates as three bytes each, as Python's `surrogatepass` has it.
function surrogatePass(value) {
  const parts = [];
  for (const character of value) {
    const code = character.codePointAt(0);
    if (code < 0xd800 || code > 0xdfff) parts.push(Buffer.from(character));
    else parts.push(Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)]));
  }
  return Buffer.concat(parts);
}

function encodeItems(items, depth, within) {
  const answer = [];
  for (let index = 0; index < items.length; index++) {
    answer.push(encode(items[index], depth + 1, within));
  }
  return answer;
}

function encodeObject(value, depth, within) {
  if (within.has(value)) throw new Refused("the value contains itself");
  within.add(value);
  const answer = encodeContainer(value, depth, within);
  within.delete(value);
  return answer;
}

function encodeContainer(value, depth, within) {
  if (isArray(value) || (isTypedArray(value) && value.length !== undefined)) {
    spend(value.length * 2 + 20);
    return encodeItems(value, depth, within);
  }
  if (isSet(value)) return { $: "set", v: encodeItems([...setValues.call(value)], depth, within) };
  if (isMap(value)) {
    const pairs = [...mapEntries.call(value)].map((pair) => encodeItems(pair, depth, within));
    return { $: "dict", v: pairs };
  }
  if (!plainPrototypes.includes(getPrototypeOf(value))) return encodeUnknown(value);
  const names = keys(value);
  spend(names.length * 4 + 20);
  const pairs = names.map((name) => [encodeString(name), encode(value[name], depth + 1, within)]);
  const isPlain = pairs.every(([name]) => typeof name === "string" && name !== "$");
  return isPlain ? fromEntries(pairs) : { $: "dict", v: pairs };
}

function encodeUnknown(value) {
  const name = typeof value === "object" ? getPrototypeOf(value).constructor?.name : typeof value;
  const type = typeof name === "string" ? Buffer.from(name.slice(0, 200)).toString() : "object";
  spend(40 + type.length);
  if (objects.length >= MAX_HANDLES) return { $: "opaque", v: type };
  objects.push(value);
  return { $: "handle", v: objects.length - 1, type };
}

function encode(value, depth, within) {
  if (depth > MAX_DEPTH) throw new Refused(`the value is nested more than ${MAX_DEPTH} deep`);
  switch (typeof value) {
    case "undefined": spend(4); return null;
    case "boolean": spend(4); return value;
    case "number": return encodeNumber(value);
    case "bigint": return encodeBigInt(value);
    case "string": return encodeString(value);
    case "object": return value === null ? null : encodeObject(value, depth, within);
    default: return encodeUnknown(value);
  }
}

const makers = {
  int: (v) => (v.startsWith("-") ? -BigInt(v.slice(1)) : BigInt(v)),
  float: (v) => ({ nan: NaN, inf: Infinity, "-inf": -Infinity, "-0.0": -0 })[v],
  tuple: (v) => v.map(decode),
  set: (v) => new Set(v.map(decode)),
  frozenset: (v) => new Set(v.map(decode)),
  dict: (v) => new Map(v.map((pair) => pair.map(decode))),
  bytes: (v) => new Uint8Array(Buffer.from(v, "base64")),
  bytearray: (v) => new Uint8Array(Buffer.from(v, "base64")),
  handle: (v) => resolve(v),
};

function decode(data) {
  if (data === null || typeof data !== "object") return data;
  if (isArray(data)) return data.map(decode);
  if (!("$" in data)) return fromEntries(keys(data).map((name) => [name, decode(data[name])]));
  const make = makers[data.$];
  if (make === undefined) throw new Refused(`JavaScript has no value of kind ${data.$}`);
  return make(data.v);
}

function resolve(number) {
  if (!(number in objects)) throw new Refused(`there is no object $${number}`);
  return objects[number];
}

let loaded = null;

async function load() {
  loaded = { exports: {} };
  const source = readFileSync(mainFile, "utf8");
  Object.assign(globalThis, {
    require: createRequire(mainFile), module: loaded, exports: loaded.exports,
    __filename: mainFile, __dirname: path.dirname(mainFile),
  });
  try {
    new vm.Script(source, { filename: mainFile });
  } catch (error) {
    // Only a module may import and export; a mistake in it is told by loading it as one.
    if (!/\b(import|export)\b|await is only valid/.test(error.message)) throw error;
    const url = "data:text/javascript;base64," + Buffer.from(source).toString("base64");
    loaded.exports = await import(url);
    return;
  }
  // At the top level, so that its `const`, `let` and `class` can be seen from another script.
  vm.runInThisContext(source, { filename: mainFile });
}

function isClass(found) {
  if (typeof found !== "function") return false;
  if (Function.prototype.toString.call(found).startsWith("class")) return true;
  return found.prototype !== undefined && getOwnPropertyNames(found.prototype).length > 1;
}

async function find(first) {
  if (first.startsWith("$") && isInteger(Number(first.slice(1)))) return resolve(Number(first.slice(1)));
  if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(first)) throw new ReferenceError(`${first} is no name`);
  if (loaded === null) await load();
  if (loaded.exports !== null && first in Object(loaded.exports)) return loaded.exports[first];
  return vm.runInThisContext(first);
}

async function call({ entry_point: entryPoint, args, kwargs }) {
  if (keys(kwargs).length) throw new Refused("JavaScript has no keyword arguments");
  const values = args.map(decode);
  const [first, ...names] = entryPoint.split(".");
  let found = await find(first), owner;
  for (const name of names) {
    owner = isClass(found) ? new found() : found;
    found = owner[name];
  }
  if (typeof found !== "function") throw new TypeError(`${entryPoint} is not a function`);
  return isClass(found) ? new found(...values) : await found.apply(owner, values);
}

async function answer(line) {
  const request = parse(line);
  const reply = { nonce: request.nonce };
  try {
    const value = await call(request);
    left = MAX_BYTES;
    reply.value = encode(value, 0, new Set());
  } catch (error) {
    if (error instanceof Refused) reply.refused = error.message;
    else Object.assign(reply, describe(error));
  }
  return stringify(reply);
}

function describe(error) {
  try {
    const isError = error instanceof Error;
    const message = String(isError ? error.message : error).slice(0, MAX_MESSAGE);
    return {
      exception: isError ? String(error.constructor.name).slice(0, 200) : "Thrown",
      message: Buffer.from(message).toString(),
    };
  } catch {
    return { exception: "Error", message: "" };
  }
}

function write(text) {
  let data = Buffer.from(text + "\n");
  while (data.length) data = data.subarray(writeSync(descriptor, data));
}

async function serve() {
  const buffer = Buffer.alloc(65536);
  let rest = [];
  for (let size; (size = readSync(descriptor, buffer)) > 0; ) {
    let start = 0, end;
    const data = Buffer.from(buffer.subarray(0, size));
    while ((end = data.indexOf(10, start)) >= 0) {
      rest.push(data.subarray(start, end));
      const reply = await answer(decoder.decode(Buffer.concat(rest)));
      write(reply.length > MAX_BYTES + 1000
        ? stringify({ nonce: parse(reply).nonce, refused: "the value is larger than 1 MiB" })
        : reply);
      rest = [];
      start = end + 1;
    }
    rest.push(data.subarray(start));
  }
  exit(0);
}

process.on("uncaughtException", () => exit(1));
serve();
