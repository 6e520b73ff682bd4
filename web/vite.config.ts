import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npm run dev` shows the sources against a server that runs: OSTRAKA_URL, as `ostraka dev` writes it into dev.env.
const server = process.env.OSTRAKA_URL ?? "http://127.0.0.1:8470";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // data: addresses would need a looser content security policy
    modulePreload: { polyfill: false },
    sourcemap: false,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  worker: { format: "es", rolldownOptions: { output: { entryFileNames: "assets/[name]-[hash].js" } } },
  server: {
    proxy: { "/v1": server, "/docs": server, "/ops": server, "/livez": server, "/readyz": server },
  },
});
