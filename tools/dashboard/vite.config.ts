import { defineConfig } from "vite";

// Two pages, of a run and of a queue, which the binary carries; licences of what is in them go with them.
export default defineConfig({
  base: "/",
  build: {
    outDir: "../dashboard",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    license: { fileName: "licences.txt" },
    chunkSizeWarningLimit: 1000,
    rollupOptions: {
      input: { page: "index.html", queue: "queue.html" },
      output: { entryFileNames: "[name].js", chunkFileNames: "shared.js", assetFileNames: "[name][extname]" },
    },
  },
});
