el.innerHTML = "<p class=\"x\">hi</p>";
const msg = 'don\'t';
