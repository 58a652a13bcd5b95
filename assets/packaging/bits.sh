# How many bits the weights of a model keep in packages and on the site (interlinear import --bits), as small as the lessons allow: a
# test reads their claims with these copies.
bits_of() {
    case ${1##*/} in
        rnnencdec-en-fr | luong-local-p-en-fr | rnnsearch-guided-en-fr | transformer-en-fr) echo 5 ;;
        *) echo 6 ;;
    esac
}
