/**
 * Code around a watched expression: functions that record the values of its parts.
 *
 * They inspect values without running any code of the values (no getter, no `toString`, no iterator), so that watching changes nothing.
 *
 * @module
 */

/** Input of the surrounding program. */
export interface TraceSurroundings {
  /** Prefix of the names of all functions here. No name in the expression starts with it. */
  readonly prefix: string;
  /** Number of places. */
  readonly places: number;
  /** Pairs of places: the count of the second is subtracted from that of the first. */
  readonly differences: readonly (readonly [of: number, taken: number])[];
  /** True to record values and counts; false to record only counts. */
  readonly values: boolean;
}

/** Maximum length of a recorded result, in characters of JSON. Callers that need a longer one have it already. */
const RESULT_CHARACTERS = 256 * 1024;
/** Maximum number of objects whose contents are recorded; others are recorded as "…". */
const OBJECTS_MAX = 1000;

/** Code for the name and message of the thrown value `e`, in the form that failures of the sandbox have. */
const DESCRIBED = `(()=>{const t=(v)=>{try{return String(v).slice(0,2000)}catch{return"?"}};
try{return typeof e==="object"&&e!==null?{name:t(e.name),message:t(e.message)}:{name:"",message:t(e)}}catch{return{name:"",message:""}}})()`;

/** Wraps `body`, an instrumented expression, in an expression whose value is the trace. */
export function surround(body: string, { prefix: p, places, differences, values }: TraceSurroundings): string {
  return `(()=>{const ${p}s=Array.from({length:${places}},()=>[0]),
${p}i=(v)=>v,
${p}h=(i,v)=>{${p}s[i][0]++;return v},
${p}c=(t,f,v)=>{${p}s[v?t:f][0]++;return v},
${p}n=(t,f,v)=>{${p}s[v==null?t:f][0]++;return v},
${p}o=(t,f,v,g)=>{if(v==null){${p}s[f][0]++;return}${p}s[t][0]++;return g(v)},
${p}r=Reflect.apply;${values ? preview(p) : ""}
let ${p}v,${p}k="value",${p}m={};
try{${p}v=${p}i((${body}
))}catch(e){${p}k="threw";${p}m=${DESCRIBED}}
${p}m.kind=${p}k;
if(${p}k==="value"){try{const v=${p}v,j=JSON.stringify(v);
if(j===undefined||typeof v==="number"&&!isFinite(v)||j==="null"&&v!==null)${p}m.kind="noJson";
else if(j.length<=${RESULT_CHARACTERS})${p}m.json=j}catch{${p}m.kind="noJson"}}
for(const [a,b] of ${JSON.stringify(differences)})${p}s[a][0]=Math.max(0,${p}s[a][0]-${p}s[b][0]);
${p}m.seen=${p}s;return ${p}m})()`;
}

/** Code of the function `t`, which records a value, and of the functions that format it. */
function preview(p: string): string {
  return `
const ${p}d=Object.getOwnPropertyDescriptor,${p}z=(t,n)=>t.length>n?t.slice(0,n)+"…":t,
${p}q=(t)=>JSON.stringify(${p}z(t,160)),
${p}w=(e,d)=>e===undefined?"":"value"in e?${p}p(e.value,d):"…",
${p}p=(v,d)=>{
if(typeof v==="string")return ${p}q(v);
if(typeof v==="bigint")return v+"n";
if(typeof v==="function")return"function";
if(typeof v!=="object"||v===null)return Object.is(v,-0)?"-0":String(v);
if(Array.isArray(v)){if(d>2&&v.length>0)return"[…]";const r=[];
for(let i=0;i<v.length&&i<8;i++)r.push(${p}w(${p}d(v,i),d+1));
if(v.length>8)r.push("…");return ${p}z("["+r.join(", ")+"]",400)}
const b=${p}b(v);if(b!==undefined)return b;
const k=Object.keys(v);if(d>2&&k.length>0)return"{…}";const r=[];
for(let i=0;i<k.length&&i<8;i++)r.push((/^[A-Za-z_$][\\w$]*$/.test(k[i])?k[i]:${p}q(k[i]))+": "+${p}w(${p}d(v,k[i]),d+1));
if(k.length>8)r.push("…");return ${p}z("{"+r.join(", ")+"}",400)},
${p}b=(v)=>{try{
if(v instanceof Error){const m=${p}d(v,"message");return"Error("+(m!==undefined&&typeof m.value==="string"?${p}q(m.value):"")+")"}
if(v instanceof Date)return"Date("+Date.prototype.getTime.call(v)+")";
if(v instanceof RegExp)return"/"+Reflect.apply(${p}d(RegExp.prototype,"source").get,v,[])+"/";
if(v instanceof Map)return"Map("+Reflect.apply(${p}d(Map.prototype,"size").get,v,[])+")";
if(v instanceof Set)return"Set("+Reflect.apply(${p}d(Set.prototype,"size").get,v,[])+")";
}catch{}},
${p}t=(i,v)=>{const s=${p}s[i];try{
const o=typeof v==="object"&&v!==null,t=o&&${p}l--<=0?"…":${p}p(v,0);
if(s[0]===0)s[1]=t;s[2]=t}catch{}s[0]++;return v};
let ${p}l=${OBJECTS_MAX};`;
}
