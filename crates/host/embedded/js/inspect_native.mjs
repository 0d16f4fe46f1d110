// The package node-inspect-extracted can't see into promises and proxies, which only an engine can: here it asks the host.
// It also must not load URLs for texts that have none. Each place must be there once, or the build ends: the package has changed.
import { readFileSync } from "node:fs";

const places = [
    ["y=n(179),", 'y=n(179),K=native("types"),'],
    ["getPromiseDetails:()=>[g,void 0]", "getPromiseDetails:t=>{const[e,n]=K.promise(t);return[0===e?g:2===e?h:1,n]}"],
    ["getProxyDetails:y.getProxyDetails", "getProxyDetails:(t,e=!0)=>{const n=K.proxy(t);return n&&(e?n:n[0])}"],
    ["t.exports=URL}", "t.exports=function(t){return new globalThis.URL(t)}}"],
    ["c=je(e=c,!1),s+=1", "c=je(e=c,!1),s=0"],
    // As Node 20 and 22 show it.
    ['s=t.stylize(e,"symbol")}else s=null', 's=`[${t.stylize(e,"symbol")}]`}else s=null'],
    ["return n+`{ [byteLength]: $", "return n+`{ byteLength: $"],
    ['${t.stylize(`[${r}]`,"string")}: ${i}', '${Array.isArray(e)||t.showHidden?t.stylize(`[${r}]`,"string"):r}: ${i}'],
];

/** For esbuild. */
export const inspectNative = {
    name: "inspect-native",
    setup(made) {
        made.onLoad({ filter: /node-inspect-extracted[\\/]dist[\\/]inspect\.js$/ }, ({ path }) => {
            let contents = readFileSync(path, "utf8");
            for (const [place, becomes] of places) {
                if (contents.split(place).length !== 2) throw new Error(`${path} no longer has ${JSON.stringify(place)} once`);
                contents = contents.replace(place, () => becomes);
            }
            return { contents, loader: "js" };
        });
    },
};
