/** How the page looks: by the reader's choice of light or dark, from 320 pixels wide. */
export const style = `
:root { color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #16191d; --muted: #5b6470; --rule: #dfe3e8; --axis: #8b95a1;
  --c0: #1f5fd0; --c1: #c2470c; --c2: #0f7b52; --c3: #8a3ccb; --c4: #b3215f; --c5: #6b5b06; }
@media (prefers-color-scheme: dark) { :root {
  --page: #121417; --card: #1a1d21; --ink: #e9ecef; --muted: #9aa4af; --rule: #2c3138; --axis: #6d7782;
  --c0: #6ea8fe; --c1: #ff9a5c; --c2: #4fd39c; --c3: #c79bf5; --c4: #f788b4; --c5: #d9c54a; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 24px 32px 48px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
main, header { max-width: 1216px; margin: 0 auto; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 0 0 8px; }
h3 { font-size: 14px; margin: 16px 0 6px; }
p { margin: 8px 0 0; color: var(--muted); font-size: 13px; }
header p { margin: 0; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 20px 0; }
dl div { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 10px 14px; min-width: 0; }
dt { color: var(--muted); font-size: 12px; }
dd { margin: 0; font-size: 17px; font-weight: 600; overflow-wrap: anywhere; }
main { columns: 2; column-gap: 20px; }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 16px 20px 20px;
  margin-bottom: 20px; break-inside: avoid; }
section.all { column-span: all; }
ul.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; list-style: none; margin: 0 0 6px; padding: 0;
  font-size: 13px; }
ul.legend i { display: inline-block; width: 14px; height: 3px; border-radius: 2px; margin-right: 6px;
  vertical-align: middle; background: currentColor; }
ul.legend i.dashed { background: repeating-linear-gradient(90deg, currentColor 0 4px, transparent 4px 6px); }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--muted); font: 12px system-ui, sans-serif; }
svg .label { fill: var(--ink); }
svg .grid { stroke: var(--rule); fill: none; }
svg .axis { stroke: var(--axis); fill: none; }
svg .line { fill: none; stroke-width: 1.75; stroke-linejoin: round; stroke: currentColor; }
svg circle { fill: currentColor; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); }
.c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }
.narrow { display: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; margin-top: 12px; }
th, td { text-align: right; padding: 4px 0 4px 14px; border-bottom: 1px solid var(--rule); white-space: nowrap;
  vertical-align: top; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th { color: var(--muted); font-weight: 500; }
td.prose { text-align: left; white-space: normal; min-width: 220px; }
td.prose ~ td.prose, td.prose:has(~ td.prose) { min-width: 100px; }
ul.notes { color: var(--muted); font-size: 13px; margin: 8px 0 0; padding-left: 18px; }
@media (max-width: 900px) { main { columns: 1; } }
@media (max-width: 560px) {
  body { padding: 16px 16px 32px; }
  section { padding: 14px 15px 16px; }
  dl { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px; }
  .wide { display: none; } .narrow { display: block; } }
`
