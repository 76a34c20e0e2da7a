// Browsers refuse workers to pages that are opened as files. There the search runs in a hidden frame in a worker's place.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = `<script src="${new URL(url, location)}"></script>`;
      this.inside = new Promise(done => {
        frame.onload = () => {
          frame.contentWindow.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
          done(frame.contentWindow);
        };
      });
      document.body.append(frame);
    }
    async postMessage(data) {
      (await this.inside).dispatchEvent(new MessageEvent("message", {data}));
    }
  };
}
