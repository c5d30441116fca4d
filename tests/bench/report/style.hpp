// The report's style: on a screen of 320 pixels and more, on paper, in light and in dark.
#pragma once

namespace fairgv::bench::report {

// Colours have a contrast of at least 4.5 to their background. Wide tables scroll by themselves, so that the
// page never does; on paper nothing scrolls.
inline constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1b1f24; --soft: #4d5661; --ground: #ffffff; --panel: #f3f5f7;
  --line: #c9d0d8; --link: #0a4fb0; --good: #0b6630; --bad: #a3230b; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ed; --soft: #aab4bf; --ground: #14171b; --panel: #1f242a; --line: #424a54;
    --link: #8ab8ff; --good: #74d99a; --bad: #ff9c82; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1rem; max-width: 64rem; color: var(--text); background: var(--ground);
  font: 1rem/1.5 system-ui, "Liberation Sans", "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.5rem 0 .5rem; padding-top: .5rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .5rem 0; }
a { color: var(--link); }
a:focus-visible, [tabindex]:focus-visible, summary:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.soft { color: var(--soft); }
.warning { border-left: .3rem solid var(--bad); background: var(--panel); padding: .5rem .75rem; }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; }
caption { text-align: left; color: var(--soft); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
thead th { background: var(--panel); }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; }
.scroll table { width: auto; min-width: 50%; }
pre { background: var(--panel); padding: .6rem .75rem; margin: .5rem 0; overflow-x: auto; font-size: .8125rem;
  line-height: 1.4; }
code, pre { font-family: ui-monospace, "Liberation Mono", "DejaVu Sans Mono", monospace; }
pre.command { white-space: pre-wrap; overflow-wrap: anywhere; }
figure { margin: .75rem 0; }
figure .scroll { background: #ffffff; border: 1px solid var(--line); }
figure img { display: block; width: 100%; min-width: 34rem; height: auto; }
figcaption { color: var(--soft); font-size: .875rem; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .25rem 1rem; margin: .5rem 0; }
dt { font-weight: 600; }
dd { margin: 0; min-width: 0; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem .9rem; list-style: none; padding: 0; margin: .5rem 0; }
summary { cursor: pointer; padding: .25rem 0; }
@media screen and (max-width: 44rem) {
  .summary thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .summary, .summary caption, .summary tbody, .summary tr, .summary th, .summary td { display: block; }
  .summary tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .summary th, .summary td { border: 0; padding: .1rem 0; }
  .summary td { display: grid; grid-template-columns: 7rem 1fr; gap: .5rem; }
  .summary td::before { content: attr(data-label); color: var(--soft); }
}
@media print {
  @page { size: A4; margin: 15mm; }
  :root { --text: #000000; --soft: #333333; --ground: #ffffff; --panel: #ffffff; --line: #888888;
    --link: #000000; --good: #000000; --bad: #000000; }
  body { padding: 0; max-width: none; font-size: 9.5pt; }
  .scroll, pre { overflow: visible; }
  .scroll table { width: 100%; font-size: 7pt; }
  .scroll th, .scroll td { padding: .15rem .2rem; overflow-wrap: anywhere; }
  td.number { white-space: normal; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); font-size: 7pt; }
  figure img { min-width: 0; }
  h2, h3 { break-after: avoid; }
  tr, figure { break-inside: avoid; }
  nav { display: none; }
}
)";

}  // namespace fairgv::bench::report
