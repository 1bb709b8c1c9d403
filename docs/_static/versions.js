// A list of versions in place of this one's number, where `python docs/join_versions.py` has written one beside the site.
"use strict";
addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector(".versions span");
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const script = document.createElement("script");
  script.src = new URL("../versions.js", root);
  script.onload = () => {
    const here = decodeURIComponent(root.pathname.split("/").at(-2));
    if (!(here in siteVersions)) return;
    const list = document.createElement("select");
    list.ariaLabel = "Version";
    for (const name of Object.keys(siteVersions)) list.add(new Option(name, name, false, name === here));
    list.onchange = () => {
      const page = location.href.slice(root.href.length).replace(/[?#].*/, "") || "index.html";
      const there = siteVersions[list.value].includes(page) ? page : "index.html";
      location.href = new URL(`../${encodeURIComponent(list.value)}/${there}`, root);
    };
    place.replaceWith(list);
  };
  if (place) document.head.append(script);
});
