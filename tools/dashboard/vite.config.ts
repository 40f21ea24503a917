import { defineConfig } from "vite";

// One script and one style sheet, which the binary carries; licences of what is in them go with them.
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
      output: { entryFileNames: "page.js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
});
