// Written by `deno task std` from @std/dotenv: not to be edited. License: MIT.
var e={"\\":"\\\\","\n":"\\n","\r":"\\r","	":"\\t",'"':'\\"'};function s(t){return Object.entries(t).map(([r,n])=>`${r}=${i(n)}`).join(`
`)}function i(t){return/^\w*$/.test(t)?t:/[\\\n\r\t']/.test(t)?`"${t.replace(/[\\\n\r\t"]/g,r=>e[r])}"`:`'${t}'`}export{s as stringify};
